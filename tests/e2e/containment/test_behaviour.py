"""A program cannot tell from its sockets that somebody else carries its calls out."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest
from tests.e2e.containment.harness import PROGRAMS, Harness, Outcome, User

CHECKS = tuple(re.findall(r"@check\ndef (\w+)", (PROGRAMS / "behaviour.py").read_text()))


@pytest.fixture(scope="module")
def both(contained_here: None, shared: Path, user: User) -> tuple[Outcome, Outcome]:
    folder = Path(tempfile.mkdtemp(dir=shared))
    folder.chmod(0o777)
    harness = Harness(folder, user)
    words = ("python", "behaviour.py", *CHECKS)
    env = {"TMPDIR": str(folder)}
    return harness.plain(*words, env=env), harness.contained(*words, env=env, timeout_s=90)


@pytest.mark.parametrize("check", CHECKS)
def test_a_socket_does_contained_what_it_does_uncontained(both: tuple[Outcome, Outcome], check: str) -> None:
    plain, contained = both
    assert "Error(" not in plain.lines[check], "the check itself does not work here"
    assert contained.lines[check] == plain.lines[check]


OLD_KERNEL = (
    "import sys; sys.path.insert(0, sys.argv[1]); from flowproof_runner.containment import abi, supervisor;"
    " abi.FLAG_WAIT_KILLABLE_RECV = 0; supervisor.main()"
)
UNDER_SIGNALS = (
    "connect_interrupted",
    "connect_restarted",
    "killed_while_connecting",
    "full_buffer_blocking",
    "stream_longer_than_any_buffer",
    "sigpipe",
)


def test_on_a_kernel_that_interrupts_trapped_calls_it_is_the_same(harness: Harness) -> None:
    """Before Linux 5.19 a signal takes the task out of the call while we carry it out.

    One case is left out: a signal in the very moment of the answer makes a send happen twice there, unseen by us.
    """
    words = ("python", "behaviour.py", *UNDER_SIGNALS)
    plain, contained = harness.plain(*words), harness.contained(*words, boot=OLD_KERNEL)
    assert contained.lines == plain.lines


def test_none_of_it_is_a_fault(both: tuple[Outcome, Outcome]) -> None:
    assert both[1].report["faults"] == []
    assert both[1].report["violations"] == []
