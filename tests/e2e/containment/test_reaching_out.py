"""The agent cannot take hold of its supervisor, nor, under Landlock, of any process outside its tree."""

from __future__ import annotations

import os

import pytest
from tests.e2e.containment.harness import Harness

WAYS = ("trace", "open_memory", "read_memory", "take_descriptors", "namespace", "hurt")
BYSTANDER = tuple(f"bystander:{way}" for way in WAYS)
SUPERVISOR = tuple(f"supervisor:{way}" for way in WAYS)
DENIED = {"EPERM", "EACCES"}

WITHOUT_LANDLOCK = (
    "import sys; sys.path.insert(0, sys.argv[1]); from flowproof_runner.containment import landlock, supervisor;"
    " landlock.available = lambda: 0; supervisor.main()"
)


@pytest.fixture
def uncontained(harness: Harness) -> None:
    """All of it is possible between processes of one user."""
    found = harness.plain("python", "reach_out.py", "VICTIM").lines
    assert {way: found[way] for way in BYSTANDER} == dict.fromkeys(BYSTANDER, "ok")


def test_under_landlock_nobody_outside_the_tree_can_be_touched(harness: Harness, uncontained: None) -> None:
    done = harness.contained("python", "reach_out.py", "VICTIM")
    if done.report["tier"] != "enforced (linux seccomp+landlock)":
        pytest.skip("no Landlock here")
    assert {way: done.lines[way] in DENIED for way in (*BYSTANDER, *SUPERVISOR)} == dict.fromkeys(
        (*BYSTANDER, *SUPERVISOR), True
    ), done.out


def test_without_landlock_the_supervisor_keeps_its_descriptors_and_memory(harness: Harness, uncontained: None) -> None:
    done = harness.contained("python", "reach_out.py", "VICTIM", boot=WITHOUT_LANDLOCK)
    assert done.report["tier"] == "enforced (linux seccomp)"
    held = {way for way in (*BYSTANDER, *SUPERVISOR) if done.lines[way] in DENIED}
    assert held >= set(SUPERVISOR) - {"supervisor:hurt"}, done.out
    assert held >= {"bystander:trace", "bystander:read_memory", "bystander:take_descriptors"}, done.out
    # What this tier does not close, and docs/security.md says so (root's bystander keeps root's capabilities, and so
    # is closed to an agent that has none):
    assert done.lines["bystander:open_memory"] == ("EACCES" if harness.user == "me" and os.geteuid() == 0 else "ok")
    assert done.lines["supervisor:hurt"] == "ok"
