"""What the kernel is told about each system call: let be, refuse with an errno, or ask the supervisor.

Every `int` argument is compared in its lower 32 bits only, as the kernel reads it: `socket(17 | 1 << 32)` is AF_PACKET.
Everything not named here runs at full speed and unseen.
"""

from __future__ import annotations

import errno
import os
import socket
from dataclasses import dataclass
from typing import Final, Literal

INT: Final = 0xFFFFFFFF
EVERY_BIT: Final = 0xFFFFFFFFFFFFFFFF


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on one argument."""

    arg: int
    value: int
    mask: int = INT
    how: Literal["masked", "differs", "above"] = "masked"
    """`masked`: argument & mask == value. `differs`, `above`: all 64 bits against value."""

    def holds(self, argument: int) -> bool:
        """True when the argument, 64 bits as the register holds them, meets the condition."""
        match self.how:
            case "masked":
                return argument & self.mask == self.value
            case "differs":
                return argument != self.value
            case "above":
                return argument > self.value


@dataclass(frozen=True, slots=True)
class Rule:
    """One system call under conditions that all hold, and what then happens."""

    syscall: str
    tests: tuple[Condition, ...] = ()
    errno: int | None = None
    """Refuse with it (0: pretend success); None: ask the supervisor."""


FAMILIES: Final = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK)
_INET: Final = (socket.AF_INET, socket.AF_INET6)
_SOCK_TYPE: Final = 0xF
_TUNSETIFF: Final = 0x400454CA

_MULTICAST: Final = (42, 43, 44, 46, 47, 48)
"""MCAST_JOIN_GROUP ... MCAST_MSFILTER, the same under IPPROTO_IP and IPPROTO_IPV6: joining sends a report off-host."""
REFUSED_OPTIONS: Final[dict[tuple[int, int], int]] = {
    **{(socket.SOL_SOCKET, option): errno.EPERM for option in (25, 62)},  # BINDTODEVICE, BINDTOIFINDEX: steer loopback
    (socket.SOL_SOCKET, 60): errno.ENOPROTOOPT,  # ZEROCOPY: completion cannot be reported through an emulated send
    # OPTIONS, RETOPTS (source routes), UNICAST_IF, MULTICAST_IF, memberships and their filters
    **{(socket.IPPROTO_IP, option): errno.EPERM for option in (4, 7, 50, 32, 35, 38, 39, 41, *_MULTICAST)},
    # 2292 forms, MULTICAST_IF, memberships, anycast, flow labels (carry a routing header), PKTINFO, the extension
    # headers, UNICAST_IF
    **{
        (socket.IPPROTO_IPV6, option): errno.EPERM
        for option in (2, 3, 4, 5, 6, 9, 17, 20, 27, 32, 33, 50, 54, 55, 57, 59, 76, *_MULTICAST)
    },
    (socket.IPPROTO_TCP, 30): errno.ENOPROTOOPT,  # FASTOPEN_CONNECT: connects in send
    (socket.IPPROTO_TCP, 31): errno.ENOPROTOOPT,  # ULP: swaps what send does
}


def _sockets() -> list[Rule]:
    rules = [
        Rule("socket", (Condition(0, family),), errno.EAFNOSUPPORT) for family in range(32) if family not in FAMILIES
    ]
    rules += [Rule("socket", (Condition(0, 1 << bit, 1 << bit),), errno.EAFNOSUPPORT) for bit in range(5, 32)]
    for family in _INET:
        domain = Condition(0, family)
        for kind in set(range(16)) - {socket.SOCK_STREAM, socket.SOCK_DGRAM}:
            rules.append(Rule("socket", (domain, Condition(1, kind, _SOCK_TYPE)), errno.EPERM))
        for protocol in set(range(1, socket.IPPROTO_UDP)) - {socket.IPPROTO_TCP}:
            rules.append(Rule("socket", (domain, Condition(2, protocol)), errno.EPROTONOSUPPORT))
        rules.append(
            Rule("socket", (domain, Condition(2, socket.IPPROTO_UDP, EVERY_BIT, "above")), errno.EPROTONOSUPPORT)
        )
    return rules


def _sends() -> list[Rule]:
    rules = [
        Rule("sendto", (Condition(4, 0, EVERY_BIT, "differs"),)),
        Rule("sendmsg"),
        Rule("sendmmsg"),
    ]
    fast_open = 0x20000000
    return [*rules, Rule("sendto", (Condition(3, fast_open, fast_open),), errno.EOPNOTSUPP)]


def _receives(musl: bool) -> list[Rule]:
    """How answers of name servers are taken by those that look at the sender. musl does it by recvmsg since 1.2.4."""
    with_sender = Rule("recvfrom", (Condition(4, 0, EVERY_BIT, "differs"),))
    return [with_sender, Rule("recvmsg")] if musl else [with_sender]


def _network() -> list[Rule]:
    asked = [Rule(name) for name in ("connect", "bind", "listen")]
    options = [
        Rule("setsockopt", (Condition(1, level), Condition(2, option)), number)
        for (level, option), number in REFUSED_OPTIONS.items()
    ]
    return asked + _sends() + _sockets() + options


def _doors() -> list[Rule]:
    """Ways around: a ring that connects by itself, a kernel upcall that resolves names, a borrowed interface."""
    return [
        Rule("io_uring_setup", errno=errno.ENOSYS),
        Rule("request_key", errno=errno.ENOSYS),
        Rule("ioctl", (Condition(1, _TUNSETIFF),), errno.EPERM),
        # A process that hides its memory cannot be judged; it is told that it has hidden it.
        Rule("prctl", (Condition(0, 4), Condition(1, 0, EVERY_BIT)), 0),
    ]


def _files() -> list[Rule]:
    """What destroys or replaces a file, for the report that `observe` makes."""
    always = ("unlink", "unlinkat", "rmdir", "rename", "renameat", "renameat2", "truncate", "ftruncate", "creat")
    rules = [Rule(name) for name in (*always, "openat2")]
    rules.append(Rule("open", (Condition(1, os.O_TRUNC, os.O_TRUNC),)))
    rules.append(Rule("openat", (Condition(2, os.O_TRUNC, os.O_TRUNC),)))
    return rules


def _writes() -> list[Rule]:
    """Every further way to make or write a file, for the control `fs_write`."""
    names = ("mkdir", "mkdirat", "symlink", "symlinkat", "link", "linkat", "mknod", "mknodat")
    opened = [(name, flag) for name in ("open", "openat") for flag in (os.O_WRONLY, os.O_RDWR, os.O_CREAT)]
    flags_at = {"open": 1, "openat": 2}
    return [*map(Rule, names), *(Rule(name, (Condition(flags_at[name], flag, flag),)) for name, flag in opened)]


def _without_landlock() -> list[Rule]:
    """What Landlock would refuse towards processes outside the tree; without it, refused altogether."""
    reach = ("ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd")
    return [Rule(name, errno=errno.EPERM) for name in reach]


def rules(*, landlock: bool, writes: bool = False, musl: bool = False) -> tuple[Rule, ...]:
    """All rules, for a tree with or without a Landlock domain of its own.

    `writes`: every write is to be seen. `musl`: programs here may be linked to it.
    """
    extra = ([] if landlock else _without_landlock()) + (_writes() if writes else [])
    return tuple(_network() + _receives(musl) + _doors() + _files() + extra)
