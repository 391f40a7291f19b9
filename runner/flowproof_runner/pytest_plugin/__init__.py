"""flowproof in pytest: specs collected as tests, and a `flowproof` fixture.

pytest loads this in every project of an environment that has flowproof, so it imports nothing until it is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

if TYPE_CHECKING:
    from flowproof_runner.pytest_plugin.fixture import Flowproof
    from flowproof_runner.pytest_plugin.item import FlowFile
    from flowproof_runner.pytest_plugin.session import Flowing, Recording

_SUFFIXES = (".flow.yaml", ".flow.yml")
_FLOWING = pytest.StashKey["Flowing"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options, and the ini option for those who want specs collected always."""
    group = parser.getgroup("flowproof", "flows of agents, replayed offline")
    group.addoption(
        "--flowproof-collect",
        action="store_true",
        help="collect *.flow.yaml in folders too; a spec that is named is always collected",
    )
    group.addoption(
        "--flowproof-record",
        choices=("never", "missing", "all"),
        default="never",
        help="collected specs to record from the real model instead of replaying them (default: never)",
    )
    parser.addini("flowproof_collect", "collect *.flow.yaml in folders too", type="bool", default=False)


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line("markers", "flowproof: a flow collected from a *.flow.yaml spec")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> FlowFile | None:
    """A spec, if it was named or specs are wanted."""
    if not file_path.name.endswith(_SUFFIXES):
        return None
    config = parent.config
    wanted = config.getoption("--flowproof-collect") or config.getini("flowproof_collect")
    if not wanted and not parent.session.isinitpath(file_path):
        return None
    from flowproof_runner.pytest_plugin.item import FlowFile

    return FlowFile.from_parent(parent, path=file_path)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """End the boundary, if one was needed."""
    flowing = session.config.stash.get(_FLOWING, None)
    if flowing is not None:
        flowing.close()


@pytest.fixture
def flowproof(request: pytest.FixtureRequest) -> Iterator[Flowproof]:
    """Replays and records flows: `flowproof.replay("booking.flow.yaml")`, paths relative to the test's file."""
    from flowproof_runner.pytest_plugin.fixture import Flowproof

    yield Flowproof(flowing(request.config), request.path.parent)


def flowing(config: pytest.Config) -> Flowing:
    """The session's one boundary; made at the first call."""
    if _FLOWING not in config.stash:
        from flowproof_runner.pytest_plugin.session import Flowing

        config.stash[_FLOWING] = Flowing(config.invocation_params.dir)
    return config.stash[_FLOWING]


def recording(config: pytest.Config) -> Recording:
    """What `--flowproof-record` says."""
    return cast("Recording", config.getoption("--flowproof-record"))  # argparse has checked it against the choices
