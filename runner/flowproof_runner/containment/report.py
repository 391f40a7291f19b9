"""What one contained run did to the network and the disk, put together from the supervisor's journal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

ENFORCED: Final = "enforced (linux seccomp)"
ENFORCED_WITH_LANDLOCK: Final = "enforced (linux seccomp+landlock)"


def not_contained(why: str) -> str:
    """The tier of a run that nothing held."""
    return f"not contained ({why})"


def enforced(tier: str) -> bool:
    """True for the two tiers under which a run can be certified."""
    return tier in (ENFORCED, ENFORCED_WITH_LANDLOCK)


@dataclass(frozen=True, slots=True)
class Process:
    """A process, by number and name."""

    pid: int
    name: str


@dataclass(frozen=True, slots=True)
class Violation:
    """One undeclared destination, with every attempt at it folded together."""

    to: str
    """`198.51.100.9:443`, `[2001:db8::1]:443`, `unix:/run/docker.sock`, or a host name that was asked for."""
    protocol: str
    """`tcp`, `udp`, `unix` or `dns`."""
    kind: str = "connect"
    """`connect`, `listen` (an address other machines reach), `unix`, or `name`."""
    name: str = ""
    """The host name this address was given out for."""
    chain: tuple[Process, ...] = ()
    """The process of the first attempt, its parent, and so on up to the agent."""
    at_ms: float = 0.0
    """When it was first attempted, from the launch."""
    count: int = 1


@dataclass(frozen=True, slots=True)
class Asked:
    """A name the tree asked for."""

    name: str
    type: str
    declared: bool
    harmless: bool = False


@dataclass(frozen=True, slots=True)
class Narrowed:
    """A wildcard that became loopback."""

    asked: str
    bound: str


@dataclass(frozen=True, slots=True)
class UnixPeer:
    """A local socket that was reached, or refused."""

    path: str
    """`@name` for an abstract one."""
    inside: bool | None
    """True when whoever listens is in the tree; None when that cannot be told."""
    refused: bool = False


_MAKES: Final = frozenset({"mkdir", "mkdirat", "symlink", "symlinkat", "link", "linkat", "mknod", "mknodat", "bind"})


@dataclass(frozen=True, slots=True)
class FileEvent:
    """A call that destroys or replaces a file, as it was attempted."""

    call: str
    paths: tuple[str, ...]
    flags: str = ""
    existed: bool = True
    """False: it made a file where none was."""
    at_ms: float = 0.0

    @property
    def destructive(self) -> bool:
        """True when something that was there is lost by it."""
        return self.existed and self.call not in _MAKES and ("O_TRUNC" in self.flags or not self.flags)


@dataclass(frozen=True, slots=True)
class ContainmentReport:
    """All of it."""

    tier: str
    violations: tuple[Violation, ...] = ()
    names: tuple[Asked, ...] = ()
    probes: tuple[str, ...] = ()
    """Undeclared destinations a datagram socket was connected to, with nothing sent."""
    narrowed: tuple[Narrowed, ...] = ()
    unix: tuple[UnixPeer, ...] = ()
    files: tuple[FileEvent, ...] = ()
    faults: tuple[str, ...] = ()
    """Why the run cannot be certified although it was contained."""
