"""Whoever clones the repository can install it: nothing in its locks comes from a feed of somebody's own."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NPM = sorted(
    path
    for pattern in ("tests/agents/npm/*", "tests/e2e/node", "tests/e2e/mcp/peers")
    for path in ROOT.glob(f"{pattern}/package-lock.json")
)


def test_every_python_package_comes_from_the_public_index() -> None:
    text = (ROOT / "uv.lock").read_text()
    assert set(re.findall(r'registry = "([^"]+)"', text)) == {"https://pypi.org/simple"}
    assert set(re.findall(r'url = "https://([^/"]+)/', text)) == {"files.pythonhosted.org"}


@pytest.mark.parametrize("lock", NPM, ids=lambda path: path.parent.name)
def test_every_node_package_comes_from_the_public_registry(lock: Path) -> None:
    packages = json.loads(lock.read_text())["packages"].values()
    sources = {package["resolved"] for package in packages if "resolved" in package and not package.get("link")}
    assert [url for url in sources if not url.startswith("https://registry.npmjs.org/")] == []


def test_there_are_locks_to_check() -> None:
    assert len(NPM) > 10
