"""Control messages of sendmsg(2): what may travel with a datagram, and descriptors on their way between processes."""

from __future__ import annotations

import errno
import ipaddress
import os
import socket
import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

from flowproof_runner.containment import abi
from flowproof_runner.containment.target import Call

LIMIT: Final = 20480
"""The kernel's own limit (net.core.optmem_max, as most machines have it) for one message."""
_HEAD: Final = struct.Struct("@Nii")
_SOL_UDP: Final = 17
_ALLOWED: Final = {
    (socket.IPPROTO_IP, socket.IP_TOS),
    (socket.IPPROTO_IP, socket.IP_TTL),
    (socket.IPPROTO_IPV6, socket.IPV6_TCLASS),
    (socket.IPPROTO_IPV6, socket.IPV6_HOPLIMIT),
    (socket.IPPROTO_IPV6, socket.IPV6_DONTFRAG),
    (_SOL_UDP, 103),  # UDP_SEGMENT
    (socket.SOL_SOCKET, abi.SCM_TXTIME),
    (socket.SOL_SOCKET, 37),  # SO_TIMESTAMPING
}
_IGNORED: Final = {(socket.SOL_SOCKET, socket.SCM_RIGHTS), (socket.SOL_SOCKET, socket.SCM_CREDENTIALS)}
"""What an internet socket takes and does nothing with."""
_LOOPBACK_INTERFACE: Final = (0, 1)
"""No choice of interface, or lo, which has this index in every network namespace."""


class Message(NamedTuple):
    """One control message."""

    level: int
    type: int
    data: bytes


def parse(raw: bytes) -> Iterator[Message]:
    """Split the control data. Raises OSError(EINVAL) if it is not well-formed, as the kernel would."""
    at = 0
    while at + _HEAD.size <= len(raw):
        size, level, kind = _HEAD.unpack_from(raw, at)
        if size < _HEAD.size or size > len(raw) - at:
            raise OSError(errno.EINVAL, "malformed control data")
        yield Message(level, kind, raw[at + _HEAD.size : at + size])
        at += (size + 7) & ~7


def pack(messages: list[Message]) -> bytes:
    """Control data as the kernel takes it."""
    parts = []
    for message in messages:
        size = _HEAD.size + len(message.data)
        parts.append(_HEAD.pack(size, message.level, message.type) + message.data + b"\0" * (-size % 8))
    return b"".join(parts)


def for_inet(raw: bytes) -> bytes:
    """The control data with all that steers a packet refused.

    Raises OSError(EPERM) for a message that is not on the list: an interface, a source route, an extension header.
    """
    kept = []
    for message in parse(raw):
        key = message.level, message.type
        if key in _ALLOWED or _answers_on_loopback(message):
            kept.append(message)
        elif key not in _IGNORED:
            raise Steering(errno.EPERM, "a control message that could steer the packet")
    return pack(kept)


class Steering(OSError):
    """A control message was refused: an answer to the task, no failure of ours."""


def _answers_on_loopback(message: Message) -> bool:
    """True for a PKTINFO that does no more than choose a loopback source, as QUIC servers do when they answer."""
    if (message.level, message.type) == (socket.IPPROTO_IP, 8) and len(message.data) == 12:
        interface, source = struct.unpack("=i4s4x", message.data)
        address: ipaddress.IPv4Address | ipaddress.IPv6Address = ipaddress.IPv4Address(source)
    elif (message.level, message.type) == (socket.IPPROTO_IPV6, socket.IPV6_PKTINFO) and len(message.data) == 20:
        raw, interface = struct.unpack("=16si", message.data)
        address = ipaddress.IPv6Address(raw)
        address = address.ipv4_mapped or address
    else:
        return False
    return interface in _LOOPBACK_INTERFACE and (address.is_loopback or address.is_unspecified)


def for_unix(call: Call, raw: bytes, held: list[int]) -> bytes:
    """The control data with each descriptor replaced by ours for the same file; `held` collects them to be closed.

    Credentials are left out: the kernel would compare them with the supervisor's.
    """
    kept = []
    for message in parse(raw):
        if message.level != socket.SOL_SOCKET:
            continue
        if message.type != socket.SCM_RIGHTS:
            if message.type != socket.SCM_CREDENTIALS:
                raise OSError(errno.EINVAL, "an unknown control message")
            continue
        ours = []
        for (fd,) in struct.iter_unpack("=i", message.data[: len(message.data) // 4 * 4]):
            ours.append(call.duplicate(fd))
            held.append(ours[-1])
        kept.append(Message(message.level, message.type, struct.pack(f"={len(ours)}i", *ours)))
    return pack(kept)


def release(held: list[int]) -> None:
    """Close what `for_unix` opened."""
    for fd in held:
        os.close(fd)
