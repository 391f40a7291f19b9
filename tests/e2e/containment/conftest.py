"""Fixtures of the containment tests: where programs run, who listens, who counts packets."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.e2e.containment.harness import Harness, User, can_switch_user
from tests.e2e.containment.network import Sink, two_machines

from flowproof_runner.containment import tier
from flowproof_runner.containment.report import enforced


@pytest.fixture(scope="session")
def contained_here() -> None:
    """Skips where no containment can be had; what then is reported has tests of its own."""
    if sys.platform != "linux" or not enforced(found := tier.probe()):
        pytest.skip(f"needs containment, and this machine is {found if sys.platform == 'linux' else 'not Linux'}")


@pytest.fixture(scope="session", params=["me", "nobody"])
def user(request: pytest.FixtureRequest) -> User:
    """Everything is proved as the user who runs the tests and as one without any right."""
    if request.param == "nobody" and not can_switch_user():
        pytest.skip("only root can become nobody")
    return "nobody" if request.param == "nobody" else "me"


@pytest.fixture(scope="session")
def shared() -> Iterator[Path]:
    """A folder that every user may write; pytest's own are the tester's alone."""
    folder = Path(tempfile.mkdtemp(prefix="flowproof-"))
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def harness(contained_here: None, shared: Path, user: User) -> Harness:
    """Programs in this network, as either user."""
    folder = Path(tempfile.mkdtemp(dir=shared))
    folder.chmod(0o777)
    return Harness(folder, user)


@pytest.fixture
def mine(contained_here: None, shared: Path) -> Harness:
    """Programs in this network, as the user who runs the tests."""
    folder = Path(tempfile.mkdtemp(dir=shared))
    folder.chmod(0o777)
    return Harness(folder)


@pytest.fixture(scope="session")
def another_machine(contained_here: None) -> Iterator[tuple[str, Sink]]:
    """A network in which there is another machine: its name, and the sink there."""
    with ExitStack() as opened:
        try:
            made = opened.enter_context(two_machines())
        except OSError as error:
            pytest.skip(f"no network of our own can be made here: {error}")
        yield made
