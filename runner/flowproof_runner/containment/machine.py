"""What has to be known of this machine before an agent is contained on it: resolver, addresses, daemons."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import socket
from pathlib import Path
from typing import Final, NamedTuple

from flowproof_runner.containment.daemons import WELL_KNOWN, Daemon, names

RESOLV_CONF: Final = Path("/etc/resolv.conf")
_DEFAULT: Final = ("127.0.0.1",)
"""Where the resolver asks when no server is named (resolv.conf(5))."""


class Machine(NamedTuple):
    """Where names are asked for here."""

    nameservers: tuple[str, ...] = _DEFAULT
    search: tuple[str, ...] = ()


def read(resolv_conf: Path = RESOLV_CONF) -> Machine:
    """Read the resolver's file; a missing or unreadable one is what the resolver takes it for, an empty one."""
    try:
        text = resolv_conf.read_text(errors="replace")
    except OSError:
        return Machine()
    servers: list[str] = []
    search: tuple[str, ...] = ()
    for line in text.splitlines():
        word, *rest = line.split("#")[0].split(";")[0].split() or [""]
        if word == "nameserver" and rest and (server := _address(rest[0])):
            servers.append(server)
        elif word in ("search", "domain"):
            search = tuple(domain.strip(".").lower() for domain in rest)
    return Machine(tuple(servers) or _DEFAULT, search)


def _address(text: str) -> str | None:
    try:
        return str(ipaddress.ip_address(text.split("%")[0]))
    except ValueError:
        return None


def resolve(name: str) -> tuple[str, ...]:
    """All addresses of a host name now; none when it cannot be resolved here."""
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):  # UnicodeError: a label that no name server could be asked for
        return ()
    return tuple(dict.fromkeys(str(address[0]).split("%")[0] for *_, address in found))


def has_musl(libraries: Path = Path("/lib")) -> bool:
    """True where programs linked to musl run."""
    try:
        return any(name.startswith("ld-musl-") for name in os.listdir(libraries))
    except OSError:
        return False


def daemons(listing: Path = Path("/proc/net/unix")) -> tuple[Daemon, ...]:
    """The daemons that act for whoever asks, as they listen now; what this user cannot see it cannot reach."""
    listed: list[str] = []
    with contextlib.suppress(OSError), listing.open(errors="surrogateescape") as lines:
        listed = names(lines)
    found: dict[tuple[int, int], Daemon] = {}
    for name in (*listed, *(path.format(uid=os.geteuid()) for path in WELL_KNOWN)):
        with contextlib.suppress(OSError):
            file = os.stat(name)
            found[file.st_dev, file.st_ino] = Daemon(file.st_dev, file.st_ino, os.path.realpath(name))
    return tuple(found.values())
