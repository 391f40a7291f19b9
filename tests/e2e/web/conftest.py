"""A browser for the pages people open, and a place for its pictures."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.e2e.mcp.conftest import listening as listening  # the fixture
from tests.e2e.web.browser import Browser, executable

type Picture = Callable[[str], Path]


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    program = executable()
    if program is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    with Browser(program, tmp_path_factory.mktemp("chromium")) as browser:
        yield browser


@pytest.fixture
def browser(chromium: Browser) -> Browser:
    """The browser with a wide, light screen and nothing kept of the test before."""
    chromium.open("about:blank")
    chromium.screen(1280)
    return chromium


@pytest.fixture
def picture(request: pytest.FixtureRequest, tmp_path: Path) -> Picture:
    """Where a picture of this name goes: CI keeps FLOWPROOF_TEST_PICTURES as artifacts."""
    folder = Path(os.environ.get("FLOWPROOF_TEST_PICTURES") or tmp_path / "pictures")

    def place(name: str) -> Path:
        return folder / f"{request.node.name.partition('[')[0].removeprefix('test_')}-{name}.png"

    return place
