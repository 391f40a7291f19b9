"""Socket addresses as the kernel reads them: raw bytes to values and back."""

from __future__ import annotations

import ipaddress
import socket
import struct
from typing import Final, NamedTuple

type Ip = ipaddress.IPv4Address | ipaddress.IPv6Address

LIMIT: Final = 128
"""sizeof(struct sockaddr_storage): the kernel reads no more."""
DISSOLVE: Final = bytes(16)
"""AF_UNSPEC: connected to it, a socket is no longer connected, and no longer listens."""
_INET_SIZE: Final = 16
_INET6_SIZE: Final = 24
"""Without the scope: what RFC 2133 defined, and what the kernel still accepts."""


class Endpoint(NamedTuple):
    """Where an internet address points, with a v4-mapped v6 address taken for the v4 address it is."""

    ip: Ip
    port: int

    def __str__(self) -> str:
        """`198.51.100.9:443`, `[2001:db8::1]:443`."""
        return f"[{self.ip}]:{self.port}" if self.ip.version == 6 else f"{self.ip}:{self.port}"


def family(raw: bytes) -> int:
    """The address family, -1 where the bytes are too few to hold one."""
    return int.from_bytes(raw[:2], "little") if len(raw) >= 2 else -1


def endpoint(raw: bytes) -> Endpoint | None:
    """The internet endpoint of an address; None when it is none, or too short for the kernel to accept.

    AF_UNSPEC reads as AF_INET, which is what the kernel does with the destination of a datagram.
    """
    kind = family(raw)
    if kind in (socket.AF_INET, socket.AF_UNSPEC):
        if len(raw) < _INET_SIZE:
            return None
        return Endpoint(ipaddress.IPv4Address(raw[4:8]), int.from_bytes(raw[2:4], "big"))
    if kind == socket.AF_INET6 and len(raw) >= _INET6_SIZE:
        return Endpoint(plain(ipaddress.IPv6Address(raw[8:24])), int.from_bytes(raw[2:4], "big"))
    return None


def plain(ip: Ip) -> Ip:
    """The v4 address that a v4-mapped one is; any other as it is."""
    return (ip.ipv4_mapped or ip) if isinstance(ip, ipaddress.IPv6Address) else ip


def pack(ip: Ip, port: int, kind: int, scope: int = 0) -> bytes:
    """An address for a socket of family `kind`; a v4 address on a v6 socket is mapped."""
    if kind == socket.AF_INET6:
        wide = ip if ip.version == 6 else ipaddress.IPv6Address(b"\0" * 10 + b"\xff\xff" + ip.packed)
        return struct.pack("=H", kind) + struct.pack("!HI", port, 0) + wide.packed + struct.pack("=I", scope)
    return struct.pack("=H", socket.AF_INET) + struct.pack("!H", port) + ip.packed + b"\0" * 8


def without_flow(raw: bytes) -> bytes:
    """The same address with its flow label zero: a label can carry a routing header that leads off-host."""
    return raw[:4] + b"\0\0\0\0" + raw[8:] if family(raw) == socket.AF_INET6 else raw


def unix_name(raw: bytes) -> bytes:
    """The name of an AF_UNIX address: a path, `\\0` and an abstract name, or nothing."""
    name = raw[2:]
    return name if name[:1] == b"\0" else name.split(b"\0", 1)[0]
