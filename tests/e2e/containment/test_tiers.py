"""The tier is found by doing. Where a step cannot be done, the reason is in it, and nothing of the program has run."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from tests.e2e.containment.harness import Harness

from flowproof_runner.containment import tier
from flowproof_runner.containment.report import ENFORCED, ENFORCED_WITH_LANDLOCK, enforced

PATCH = """
import sys
sys.path.insert(0, sys.argv[1])
from flowproof_runner.containment import {names}
{patch}
supervisor.main()
"""
RAN = "open('ran', 'w').close()"


def patched(names: str, patch: str) -> str:
    return PATCH.format(names=f"supervisor, {names}", patch=patch)


def refuse(number: str) -> str:
    return f"(_ for _ in ()).throw(OSError(__import__('errno').{number}, 'refused'))"


ORPHANED = """
import os
def prctl(option, value=0, real=kernel.prctl):
    if option == kernel.abi.PR_SET_PDEATHSIG:
        parent = os.getppid()
        os.kill(parent, 9)
        while os.getppid() == parent:
            pass
    real(option, value)
kernel.prctl = prctl
"""
STEPS = {
    "seccomp": ("kernel", f"kernel.install_filter = lambda program: {refuse('EINVAL')}", "seccomp: Invalid argument"),
    "a second listener": ("kernel", f"kernel.install_filter = lambda program: {refuse('EBUSY')}", "seccomp: Device or"),
    "landlock": ("landlock", f"landlock.restrict = lambda version: {refuse('EPERM')}", "landlock: Operation not"),
    "pidfd_getfd": ("kernel", f"kernel.pidfd_getfd = lambda *_: {refuse('EPERM')}", "pidfd_getfd: "),
    "reading memory": ("kernel", f"kernel.read_vectors = lambda *_: {refuse('EPERM')}", "self-test: Operation not"),
    "a supervisor that is killed": (
        "kernel",
        "kernel.pidfd_getfd = lambda *_: __import__('os').kill(__import__('os').getpid(), 9)",
        "the supervisor ended early",
    ),
    "a supervisor that is killed before its child is ready": ("kernel, launcher", ORPHANED, "the supervisor ended"),
    "an answer": ("policy", "policy.Policy.decide = lambda *_: policy.Decision.ALLOW", "self-test: "),
}


@pytest.mark.parametrize("step", STEPS)
def test_a_launch_step_that_fails_is_the_reason_and_nothing_has_run(harness: Harness, step: str) -> None:
    names, patch, reason = STEPS[step]
    done = harness.contained("python", "-c", RAN, boot=patched(names, patch))
    assert done.not_contained.startswith(reason), done
    assert done.survivors == 0
    assert not (harness.folder / "ran").exists()


def test_a_supervisor_that_cannot_start_is_a_reason(harness: Harness) -> None:
    assert (
        "no such luck" in harness.contained("python", "-c", RAN, boot="raise SystemExit('no such luck')").not_contained
    )
    assert not (harness.folder / "ran").exists()


@pytest.mark.parametrize(("landlock", "expected"), [(True, ENFORCED_WITH_LANDLOCK), (False, ENFORCED)])
def test_the_tier_says_whether_landlock_holds_too(harness: Harness, landlock: bool, expected: str) -> None:
    boot = "" if landlock else patched("landlock", "landlock.available = lambda: 0")
    done = harness.contained("python", "-c", "", boot=boot)
    if landlock and done.report["tier"] == ENFORCED:
        pytest.skip("no Landlock here")
    assert done.report["tier"] == expected


NESTED = """
from pathlib import Path
from flowproof_runner.containment import tier
print(tier.probe())
"""


def test_inside_a_contained_run_another_one_is_not_contained(mine: Harness) -> None:
    """The kernel allows one listener for a tree."""
    assert enforced(tier.probe())
    done = mine.contained("python", "-c", NESTED)
    assert done.out.startswith("not contained (seccomp: Device or resource busy"), done


PROBE = """
import sys
{patch}
from flowproof_runner.containment import tier
print(tier.probe())
"""


@pytest.mark.parametrize(
    ("patch", "reason"),
    [
        ("sys.modules['pyseccomp'] = None", "libseccomp missing"),
        ("sys.platform = 'darwin'", "egress containment is Linux only"),
        ("import os; os.uname = lambda: type('U', (), {'machine': 'riscv64'})()", "no system call numbers for riscv64"),
    ],
)
def test_a_machine_without_the_means_is_not_contained(patch: str, reason: str) -> None:
    words = [sys.executable, "-c", PROBE.format(patch=patch)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"not contained ({reason}"), json.dumps(done.stdout)


@pytest.mark.parametrize(
    ("words", "error"),
    [(("no-such-program",), "FileNotFoundError: [Errno 2]"), (("true", "a\0b"), "OSError: [Errno 22]")],
    ids=["not there", "an impossible word"],
)
def test_a_program_that_cannot_be_executed_is_no_question_of_containment(
    mine: Harness, words: tuple[str, ...], error: str
) -> None:
    done = subprocess.run(mine.command(), input=mine.order(*words), capture_output=True, text=True)
    assert error in done.stderr and words[0] in done.stderr
