"""A sibling thread that changes the address or the descriptor during the check wins against a naive supervisor only."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from tests.e2e.containment.harness import PROGRAMS, Harness
from tests.e2e.containment.network import PORTS, sink

HOME, ELSEWHERE, PORT, SECONDS = "127.0.0.1", "127.0.0.2", PORTS + 600, 2
POLICY = {"off_host": [f"{ELSEWHERE}/32"]}


@pytest.fixture
def race(harness: Harness) -> Path:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        pytest.skip("no C compiler")
    to = harness.folder / "race"
    subprocess.run([compiler, "-O2", "-o", str(to), str(PROGRAMS / "race.c"), "-lpthread"], check=True)
    return to


@pytest.mark.parametrize("call", ["connect", "sendmsg"])
def test_the_race_is_won_against_a_supervisor_that_lets_the_kernel_go_on_and_lost_against_ours(
    harness: Harness, race: Path, call: str
) -> None:
    words = (race, call, HOME, ELSEWHERE, str(PORT), str(SECONDS))
    with sink("sockets", ELSEWHERE, PORT, 1) as counting:
        naive = harness.contained(*words, policy=POLICY, boot=harness.boot("naive", landlock=False))
        assert naive.code == 0, naive
        leaked = len(counting.seen())
        assert leaked > 10, f"this machine is too slow to prove anything: {leaked} of {naive.out}"
        ours = harness.contained(*words, policy=POLICY)
        assert ours.code == 0, ours
        assert int(ours.out) > 1000
        assert counting.seen() == []


def test_landlock_alone_stops_tcp_even_where_the_supervisor_is_naive(harness: Harness, race: Path) -> None:
    words = (race, "connect", HOME, ELSEWHERE, str(PORT), str(SECONDS))
    with sink("sockets", ELSEWHERE, PORT, 1) as counting:
        naive = harness.contained(*words, policy=POLICY, boot=harness.boot("naive"))
        if naive.report["tier"] != "enforced (linux seccomp+landlock)":
            pytest.skip("no Landlock here")
        assert counting.seen() == []
