"""Which destinations the agent may reach. Pure: decisions on the copied bytes of an address and nothing else."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from functools import cached_property
from typing import Final, NamedTuple

from flowproof_runner.containment.daemons import Daemon
from flowproof_runner.containment.sockaddr import Endpoint, Ip, endpoint, family, without_flow

DNS: Final = 53
_REMEMBERED: Final = 1024
_EVERYBODYS: Final = (ipaddress.IPv4Address("127.0.0.1"), ipaddress.IPv6Address("::1"))
"""Any other loopback address of a name server is all its own; Docker's 127.0.0.11 serves at odd ports as well."""
type Network = ipaddress.IPv4Network | ipaddress.IPv6Network
type Resolver = Callable[[str], Iterable[str]]
"""A host name to its addresses; empty when it has none."""

_LABEL = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(?<!-)\Z")


class Decision(StrEnum):
    """What becomes of a call that names a destination."""

    ALLOW = "allow"
    DENY = "deny"
    DNS = "dns"
    """Carried out, but towards our own name server on loopback."""


class Entry(NamedTuple):
    """One line of `agent.allow_egress`."""

    text: str
    """As the spec has it, `${VAR}` unresolved: what is shown and stored."""
    networks: tuple[str, ...] = ()
    """What it allows; for a name, the addresses it had when the run began."""
    port: int | None = None
    """None: any."""
    name: str = ""
    """The host name, lower case; empty for an address or a range."""


def parse(text: str, value: str | None = None) -> Entry:
    """Read one entry; `value` is `text` with its variables resolved.

    Raises ValueError, in words for the user, if it is none of the accepted forms. The value is never in the words.
    """
    host, port = _split(text if value is None else value)
    try:
        return Entry(text, (str(ipaddress.ip_network(host)),), port)
    except ValueError:
        pass
    if "/" in host:
        raise ValueError("not a network: a range has the form 10.0.0.0/8, with no bits set after the prefix")
    name = host.lower().removesuffix(".")
    if not name or len(name) > 253 or not all(map(_LABEL.match, name.split("."))) or name.split(".")[-1].isdigit():
        raise ValueError(
            "not a destination; accepted: host:port, ip:port, cidr:port, [v6]:port, or a host or address without a port"
        )
    return Entry(text, (), port, name)


def _split(value: str) -> tuple[str, int | None]:
    if "://" in value:
        raise ValueError("a URL; write the host and the port, like api.example.com:443")
    if "*" in value:
        raise ValueError("a wildcard; names are pinned to their addresses when the run starts, so name each host")
    if value.startswith("["):
        host, bracket, rest = value[1:].partition("]")
        if not bracket or (rest and not rest.startswith(":")):
            raise ValueError("an unfinished bracket; an IPv6 destination has the form [2001:db8::1]:443")
        return host, _port(rest[1:]) if rest else None
    if value.count(":") == 1:
        host, _, port = value.partition(":")
        return host, _port(port)
    return value, None


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 65536):
        raise ValueError("a port is a number from 1 to 65535")
    return int(text)


class Settings(NamedTuple):
    """What a policy is made of."""

    entries: tuple[Entry, ...] = ()
    certify: bool = False
    """True under `assert_no_egress`: sockets of daemons that act on others' behalf are refused as well."""
    nameservers: tuple[str, ...] = ()
    """Where this machine asks for names; what is sent there is answered by our own name server."""
    search: tuple[str, ...] = ()
    """Domains this machine's resolver puts behind names."""
    daemons: tuple[Daemon, ...] = ()
    """Those to be refused under whatever name they are reached."""
    writes: bool = False
    """Report every way to write a file, not only those that destroy one."""
    off_host: tuple[str, ...] = ()
    """Loopback ranges taken for another machine. Empty but in tests, which can reach no other machine."""


class Policy(Settings):
    """Everything the supervisor decides by. Loopback needs no entry."""

    @cached_property
    def _allowed(self) -> tuple[tuple[Network, int | None], ...]:
        return tuple((ipaddress.ip_network(n), entry.port) for entry in self.entries for n in entry.networks)

    @cached_property
    def _elsewhere(self) -> tuple[Network, ...]:
        return tuple(map(ipaddress.ip_network, self.off_host))

    @cached_property
    def _servers(self) -> frozenset[Ip]:
        return frozenset(map(ipaddress.ip_address, self.nameservers))

    def decide(self, to: Endpoint) -> Decision:
        """What becomes of a connection or datagram to this endpoint. A declared destination goes before every rule."""
        if any(port in (None, to.port) and to.ip in network for network, port in self._allowed):
            return Decision.ALLOW
        home = self.is_home(to.ip)
        if to.port == DNS and (home or to.ip in self._servers):
            return Decision.DNS
        if home and to.ip in self._servers and to.ip not in _EVERYBODYS:
            return Decision.DENY
        return Decision.ALLOW if home else Decision.DENY

    def read(self, address: bytes) -> tuple[Endpoint, Decision] | None:
        """Where a raw address points and what becomes of it; None when it is no internet address. Remembered."""
        found = self._read.get(address)
        if found is None and (to := endpoint(address)) is not None:
            found = to, self.decide(to)
            if len(self._read) < _REMEMBERED:
                self._read[address] = found
        return found

    @cached_property
    def _read(self) -> dict[bytes, tuple[Endpoint, Decision]]:
        return {}

    def at_once(self, address: bytes) -> bytes | None:
        """The raw address as any socket may connect to it, None where there is more to be looked at. Remembered.

        A socket of another family than the address takes no harm: the kernel refuses.
        """
        found = self._at_once.get(address)
        if found is None and (read := self.read(address)) and read[1] is Decision.ALLOW:
            found = without_flow(address) if family(address) != socket.AF_UNSPEC else None
            if found and len(self._at_once) < _REMEMBERED:
                self._at_once[address] = found
        return found

    @cached_property
    def _at_once(self) -> dict[bytes, bytes]:
        return {}

    def daemon_at(self, device: int, inode: int) -> str | None:
        """The name of the daemon whose socket this file is."""
        return self._by_file.get((device, inode))

    @cached_property
    def _by_file(self) -> dict[tuple[int, int], str]:
        return {(one.device, one.inode): one.name for one in self.daemons}

    def is_home(self, ip: Ip) -> bool:
        """True for loopback, and for the wildcard that the kernel takes for loopback."""
        return (ip.is_loopback or ip.is_unspecified) and not any(ip in network for network in self._elsewhere)

    @cached_property
    def names(self) -> Mapping[str, tuple[str, ...]]:
        """The declared host names with the addresses they are pinned to."""
        found: dict[str, tuple[str, ...]] = {}
        for entry in self.entries:
            if entry.name:
                found[entry.name] = found.get(entry.name, ()) + tuple(n.split("/")[0] for n in entry.networks)
        return found


def hidden(entries: Iterable[Entry]) -> dict[str, str]:
    """Each host or address that came out of a variable, with what the spec has in its place: `${SERVICE}`."""
    found: dict[str, str] = {}
    for entry in entries:
        if "${" in entry.text:
            host, colon, port = entry.text.rpartition(":")
            shown = host if colon and (port.isdigit() or port.startswith("${")) else entry.text
            found |= {network.removesuffix("/32").removesuffix("/128"): shown for network in entry.networks}
            found |= {entry.name: shown} if entry.name else {}
    return found


def pin(entry: Entry, resolve: Resolver) -> Entry:
    """The entry with its name, if it has one, bound to the addresses the resolver gives now."""
    return entry._replace(networks=tuple(resolve(entry.name))) if entry.name else entry
