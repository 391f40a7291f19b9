"""Sockets that would carry packets past the address checks cannot be opened; those agents need can."""

from __future__ import annotations

import os

from tests.e2e.containment.harness import Harness

REFUSED = {
    **dict.fromkeys(
        ("packet", "packet_with_high_bits", "vsock", "alg", "bluetooth", "tipc", "xdp", "smc", "can", "kcm"),
        "EAFNOSUPPORT",
    ),
    "a_family_to_come": "EAFNOSUPPORT",
    "packet_as_type": "EPERM",
    **dict.fromkeys(
        ("raw", "raw6", "raw_with_flags", "dccp", "ping", "ping6", "mptcp", "mptcp_with_high_bits", "sctp", "udplite"),
        "EPROTONOSUPPORT",
    ),
    "io_uring": "ENOSYS",
    "request_key": "ENOSYS",
    "option_1_60": "ENOPROTOOPT",
    "option_6_31": "ENOPROTOOPT",
}
OPEN = dict.fromkeys(("tcp", "tcp6", "udp", "unix", "netlink", "dumpable"), "ok")


def test_only_the_families_that_can_be_judged_are_open(mine: Harness) -> None:
    plain = mine.plain("python", "families.py").lines
    opened = {name for name in REFUSED if plain[name] == "ok"}
    if os.geteuid() == 0:
        assert opened >= {"packet", "packet_with_high_bits", "packet_as_type", "raw", "raw6", "io_uring"}
    assert mine.contained("python", "families.py").lines == REFUSED | OPEN
