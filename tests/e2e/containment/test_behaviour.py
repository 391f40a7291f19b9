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


def test_none_of_it_is_a_fault(both: tuple[Outcome, Outcome]) -> None:
    assert both[1].report["faults"] == []
    assert both[1].report["violations"] == []
