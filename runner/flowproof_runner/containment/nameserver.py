"""A name server on loopback that knows the declared names and nothing else.

The agent's questions to the machine's own name servers are led here. So a declared name works, no question leaves the
machine, and every name asked for is evidence. Message format: RFC 1035, read 2026-12-02.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import select
import socket
import struct
import threading
from collections.abc import Mapping
from typing import NamedTuple

from flowproof_runner.containment.context import Context
from flowproof_runner.containment.sockaddr import Endpoint
from flowproof_runner.containment.target import lineage

A, PTR, AAAA = 1, 12, 28
_TYPES = {1: "A", 2: "NS", 5: "CNAME", 12: "PTR", 15: "MX", 16: "TXT", 28: "AAAA", 33: "SRV", 64: "SVCB", 65: "HTTPS"}
_ANSWER = 0x8180  # a response, recursion desired and available
_NO_SUCH_NAME, _MALFORMED = 3, 1
_TTL_S = 60
_AT_MOST = 24
"""Addresses in one answer: as many as fit 512 bytes."""
_PATIENCE_S = 5.0


class Question(NamedTuple):
    """What was asked."""

    id: int
    name: str
    """Lower case, without the final dot."""
    type: int
    raw: bytes
    """The question section, to be echoed."""

    @property
    def type_name(self) -> str:
        """`A`, `AAAA`, or `TYPE99`."""
        return _TYPES.get(self.type, f"TYPE{self.type}")


def parse(message: bytes) -> Question | None:
    """Read a query with one question; None if it is none."""
    if len(message) < 17 or message[2] & 0x80 or message[4:6] != b"\0\1":
        return None
    labels, at = [], 12
    while at < len(message) and message[at]:
        size = message[at]
        if size > 63 or at + 1 + size >= len(message):
            return None
        labels.append(message[at + 1 : at + 1 + size].decode("latin-1"))
        at += 1 + size
    end = at + 5
    if end > len(message):
        return None
    kind = int.from_bytes(message[at + 1 : at + 3], "big")
    return Question(int.from_bytes(message[:2], "big"), ".".join(labels).lower(), kind, message[12:end])


def reply(question: Question, addresses: tuple[str, ...] | None) -> bytes:
    """The answer: the addresses of the asked type, none of them, or (for None) that there is no such name."""
    code = _NO_SUCH_NAME if addresses is None else 0
    version = {A: 4, AAAA: 6}.get(question.type)
    found = [ip for ip in map(ipaddress.ip_address, addresses or ()) if ip.version == version][:_AT_MOST]
    records = b"".join(
        b"\xc0\x0c" + struct.pack("!HHIH", question.type, 1, _TTL_S, len(ip.packed)) + ip.packed for ip in found
    )
    return struct.pack("!6H", question.id, _ANSWER | code, 1, len(found), 0, 0) + question.raw + records


class Names:
    """Which names are declared, whichever way a resolver spells them."""

    def __init__(self, declared: Mapping[str, tuple[str, ...]], search: tuple[str, ...], own: str) -> None:
        self._declared = declared
        self._suffixes = tuple("." + domain for domain in search)
        self._own = own.lower()

    def addresses(self, name: str) -> tuple[str, ...] | None:
        """The addresses of a declared name, None for any other."""
        if name == "localhost" or name.endswith(".localhost"):
            return ("127.0.0.1", "::1")
        return self._declared.get(name)

    def plain(self, name: str) -> str:
        """The name without a search domain that the resolver put behind it."""
        for suffix in self._suffixes:
            if name.endswith(suffix):
                return name.removesuffix(suffix)
        return name

    def harmless(self, question: Question) -> bool:
        """True for what programs ask without wanting to go anywhere: this machine's own name, loopback's name."""
        name = self.plain(question.name)
        if question.type == PTR:
            return name.endswith(".127.in-addr.arpa") or name == "1." + "0." * 31 + "ip6.arpa"
        return name in (self._own, self._own.split(".")[0])

    def declared(self, name: str) -> bool:
        """True when the name, with or without a search domain, may be asked for."""
        return self.addresses(name) is not None or self.addresses(self.plain(name)) is not None


class NameServer:
    """The server: UDP and TCP, on 127.0.0.1 and, where there is IPv6, on ::1."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._names = Names(context.policy.names, context.policy.search, os.uname().nodename)
        self._udp: list[socket.socket] = []
        self._tcp: list[socket.socket] = []

    def open(self) -> None:
        """Listen, and tell the context where."""
        self._context.nameserver = self._open(socket.AF_INET, "127.0.0.1")
        with contextlib.suppress(OSError):
            self._context.nameserver6 = self._open(socket.AF_INET6, "::1")

    def start(self) -> None:
        """Serve, from a thread of its own."""
        threading.Thread(target=self._serve, daemon=True).start()

    def _open(self, family: socket.AddressFamily, host: str) -> Endpoint:
        tcp = socket.create_server((host, 0), family=family)
        udp = socket.socket(family, socket.SOCK_DGRAM)
        udp.bind(tcp.getsockname()[:2])
        self._tcp.append(tcp)
        self._udp.append(udp)
        return Endpoint(ipaddress.ip_address(host), tcp.getsockname()[1])

    def _serve(self) -> None:
        while True:
            ready, _, _ = select.select([*self._udp, *self._tcp], (), ())
            for one in ready:
                if one in self._tcp:
                    threading.Thread(target=self._stream, args=one.accept(), daemon=True).start()
                else:
                    message, sender = one.recvfrom(4096)
                    with contextlib.suppress(OSError):
                        one.sendto(self._answered(message, sender[1]), sender)

    def _stream(self, connection: socket.socket, peer: tuple[str, int]) -> None:
        connection.settimeout(_PATIENCE_S)
        with connection, contextlib.suppress(OSError), connection.makefile("rb") as incoming:
            while head := incoming.read(2):
                answer = self._answered(incoming.read(int.from_bytes(head, "big")), peer[1])
                connection.sendall(len(answer).to_bytes(2, "big") + answer)

    def _answered(self, message: bytes, port: int) -> bytes:
        question = parse(message)
        if question is None:
            return message[:2].ljust(2, b"\0") + struct.pack("!5H", _ANSWER | _MALFORMED, 0, 0, 0, 0)
        addresses = self._names.addresses(question.name)
        for address in addresses or ():
            self._context.names[address] = question.name
        self._note(question, port)
        return reply(question, addresses)

    def _note(self, question: Question, port: int) -> None:
        asker = self._context.askers.get(port)
        self._context.journal.tell(
            "name",
            name=self._names.plain(question.name),
            type=question.type_name,
            declared=self._names.declared(question.name),
            harmless=self._names.harmless(question),
            chain=lineage(asker, self._context.root) if asker else [],
        )
