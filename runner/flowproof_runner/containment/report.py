"""What one contained run did to the network and the disk, put together from the supervisor's journal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from flowproof_runner.containment import launcher

ENFORCED: Final = "enforced (linux seccomp)"
ENFORCED_WITH_LANDLOCK: Final = "enforced (linux seccomp+landlock)"


def not_contained(why: str) -> str:
    """The tier of a run that nothing held."""
    return f"not contained ({why})"


def enforced(tier: str) -> bool:
    """True for the two tiers under which a run can be certified."""
    return tier in (ENFORCED, ENFORCED_WITH_LANDLOCK)


SELF_TEST: Final = "{}:{}".format(*launcher.PROBE)
"""The launch's own probe, which is no news."""


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


_MAKES: Final = frozenset({"mkdir", "mkdirat", "symlink", "symlinkat", "link", "linkat", "mknod", "mknodat"})


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


def gather(tier: str, events: Iterable[Mapping[str, Any]], faults: tuple[str, ...] = ()) -> ContainmentReport:
    """Fold the journal's events into a report."""
    violations: dict[tuple[str, str, str], Violation] = {}
    names: dict[Asked, None] = {}
    probes: dict[str, None] = {}
    narrowed: dict[Narrowed, None] = {}
    unix: dict[UnixPeer, None] = {}
    files: list[FileEvent] = []
    found: list[str] = list(faults)
    for event in events:
        match event["event"]:
            case "denied" | "listen":
                _count(violations, _violation(event))
            case "name":
                names[Asked(event["name"], event["type"], event["declared"], event["harmless"])] = None
                if not event["declared"] and not event["harmless"]:
                    _count(violations, _violation({**event, "to": event["name"], "protocol": "dns", "name": ""}))
            case "probe" if event["to"] != SELF_TEST:
                probes[event["to"]] = None
            case "narrowed":
                narrowed[Narrowed(event["to"], event["now"])] = None
            case "unix":
                unix[UnixPeer(event["path"], event["inside"], event["refused"])] = None
            case "file":
                files.append(
                    FileEvent(event["call"], tuple(event["paths"]), event["flags"], event["existed"], event["at_ms"])
                )
            case "fault":
                found.append(event["message"])
    return ContainmentReport(
        tier,
        tuple(violations.values()),
        tuple(names),
        tuple(probes),
        tuple(narrowed),
        tuple(unix),
        tuple(files),
        tuple(found),
    )


def _violation(event: Mapping[str, Any]) -> Violation:
    kind = {"listen": "listen", "name": "name"}.get(
        event["event"], "unix" if event["protocol"] == "unix" else "connect"
    )
    chain = tuple(Process(pid, name) for pid, name in event["chain"])
    return Violation(event["to"], event["protocol"], kind, event.get("name", ""), chain, event["at_ms"])


def _count(found: dict[tuple[str, str, str], Violation], one: Violation) -> None:
    key = one.to, one.protocol, one.kind
    before = found.get(key)
    found[key] = replace(before, count=before.count + 1, name=before.name or one.name) if before else one
