"""A sibling thread that changes the address or the descriptor during the check wins against a naive supervisor only."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from tests.e2e.containment.harness import PROGRAMS, Harness
from tests.e2e.containment.network import PORTS, sink

HOME, ELSEWHERE, PORT = "127.0.0.1", "127.0.0.2", PORTS + 600
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
    """One try in some dozens wins against the naive one; ours then has to withstand many times as many."""
    words = (race, call, HOME, ELSEWHERE, str(PORT))
    with sink("sockets", ELSEWHERE, PORT, 1) as counting:
        leaked, rounds = 0, 0
        while leaked < 3 and rounds < 20:
            naive = harness.contained(*words, "500", policy=POLICY, boot=harness.boot("naive", second_layer=False))
            assert naive.code == 0, naive
            leaked, rounds = leaked + len(counting.seen()), rounds + 1
        assert leaked >= 3, "this machine never wins the race, so nothing is proved"
        ours = harness.contained(*words, str(2000 * rounds), policy=POLICY, timeout_s=300)
        assert ours.code == 0, ours
        assert counting.seen() == []


def test_landlock_alone_stops_tcp_even_where_the_supervisor_is_naive(harness: Harness, race: Path) -> None:
    words = (race, "connect", HOME, ELSEWHERE, str(PORT), "2000")
    with sink("sockets", ELSEWHERE, PORT, 1) as counting:
        naive = harness.contained(*words, policy=POLICY, boot=harness.boot("naive"), timeout_s=300)
        assert naive.code == 0, naive
        if naive.report["tier"] != "enforced (linux seccomp+landlock)":
            pytest.skip("no Landlock here")
        assert counting.seen() == []
