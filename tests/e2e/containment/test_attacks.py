"""Every way to reach another machine first succeeds uncontained, then fails contained with nothing on the wire."""

from __future__ import annotations

import re
import socket
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.containment.harness import PROGRAMS, Harness, Outcome, User
from tests.e2e.containment.network import HOST4, HOST6, INTERFACE, PORTS, Sink, sink

PLAIN, PORT = PORTS, PORTS + 100
"""Ports of the uncontained attacks and of the contained ones: a late packet of the former is not one of the latter."""
ATTACKS = tuple(re.findall(r"@attack\ndef (\w+)", (PROGRAMS / "attacks.py").read_text()))
NEED_ROOT = frozenset({"steer_source_route_udp", "steer_source_route_tcp", "steer_retopts_cmsg"})
"""What a kernel of today grants to root alone; older ones grant it to everybody."""
REFUSED = {
    **{name: "EACCES" for name in ATTACKS},
    **{name: "EPERM" for name in ATTACKS if name.startswith("steer_")},
    **{name: "ENOTSUP" for name in ("fastopen_sendto", "fastopen_sendmsg")},
    "fastopen_connect": "ENOPROTOOPT",
    "mptcp": "EPROTONOSUPPORT",
    "multicast_membership": "EPERM",
}
IGMP = 2


@dataclass(frozen=True, slots=True)
class Trial:
    """All attacks, made once uncontained and once contained."""

    plain: Outcome
    contained: Outcome
    on_the_wire: Counter[str | None]
    leaked: list[list[Any]]


@pytest.fixture(scope="module")
def trial(another_machine: tuple[str, Sink], shared: Path, user: User) -> Trial:
    network, counting = another_machine
    folder = Path(tempfile.mkdtemp(dir=shared))
    folder.chmod(0o777)
    harness = Harness(folder, user, network)
    words = ("python", "attacks.py", HOST4, HOST6)
    counting.seen()
    plain = harness.plain(*words, str(PLAIN), INTERFACE, *ATTACKS)
    wire = Counter(_attack(packet) for packet in counting.seen())
    contained = harness.contained(*words, str(PORT), INTERFACE, *ATTACKS)
    return Trial(plain, contained, wire, [packet for packet in counting.seen() if _attack(packet) is None])


def _attack(packet: list[Any]) -> str | None:
    """Which uncontained attack a packet is of."""
    protocol, to, port = packet
    if protocol == IGMP:
        port = int.from_bytes(socket.inet_aton(to)[2:], "big")
    return ATTACKS[port - PLAIN] if 0 <= port - PLAIN < len(ATTACKS) else None


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_that_works_uncontained_puts_nothing_on_the_wire_contained(
    trial: Trial, attack: str, user: User
) -> None:
    assert trial.leaked == []
    assert trial.contained.lines[attack] == REFUSED[attack]
    if attack in NEED_ROOT and user != "me":
        pytest.skip("refused; that it works uncontained is seen as root, whom alone this kernel grants it")
    if not trial.on_the_wire[attack]:
        pytest.skip(f"refused; that it works uncontained is not seen on this kernel: {trial.plain.lines.get(attack)}")


def test_most_attacks_are_real_ones_here(trial: Trial) -> None:
    """A kernel may lack a protocol, but a trial in which little works uncontained proves little."""
    real = [attack for attack in ATTACKS if trial.on_the_wire[attack]]
    assert len(real) >= len(ATTACKS) - 6, trial.plain.out


def test_every_destination_is_a_violation_with_the_process_that_tried(trial: Trial) -> None:
    violations = {one["to"]: one for one in trial.contained.report["violations"]}
    tcp4 = violations[f"{HOST4}:{PORT + ATTACKS.index('tcp4')}"]
    assert (tcp4["protocol"], tcp4["kind"], tcp4["count"]) == ("tcp", "connect", 1)
    assert tcp4["chain"][-1]["name"].startswith("python")
    mapped = violations[f"{HOST4}:{PORT + ATTACKS.index('udp_mapped')}"]
    assert mapped["protocol"] == "udp"
    assert f"[{HOST6}]:{PORT + ATTACKS.index('tcp6')}" in violations
    daemon = violations[f"{HOST4}:{PORT + ATTACKS.index('from_daemon')}"]
    assert daemon["chain"], "its parent is gone, it itself is known"
    assert trial.contained.report["faults"] == []


def test_connecting_a_datagram_socket_that_sends_nothing_is_a_probe(trial: Trial) -> None:
    destination = f"{HOST4}:{PORT + ATTACKS.index('udp_connect_then_send')}"
    assert destination in trial.contained.report["probes"]
    assert destination not in trial.contained.destinations()


ELSEWHERE = "127.0.0.2"
"""Taken for another machine by a policy that only tests have: blocking is proved where no network can be made."""
ON_LOOPBACK = tuple(
    name
    for name in ATTACKS
    if not name.startswith(("steer_", "multicast", "broadcast")) and not name.endswith("6") and name != "mptcp"
)


def test_blocking_is_proved_without_a_second_machine(harness: Harness) -> None:
    words = ("python", "attacks.py", ELSEWHERE, "::1", str(PORT), "lo", *ON_LOOPBACK)
    with sink("sockets", ELSEWHERE, PORT, len(ATTACKS)) as counting:
        plain = harness.plain(*words)
        reached = {ATTACKS[port - PORT] for _, _, port in counting.seen()}
        contained = harness.contained(*words, policy={"off_host": [f"{ELSEWHERE}/32"]})
        leaked = counting.seen()
    assert reached == set(ON_LOOPBACK), plain.out
    assert leaked == []
    assert contained.lines == {name: REFUSED[name] for name in ON_LOOPBACK}
