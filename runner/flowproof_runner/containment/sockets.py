"""What a duplicated socket says of itself."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import socket
import struct
from dataclasses import dataclass

from flowproof_runner.containment import kernel, sockaddr

INET = (socket.AF_INET, socket.AF_INET6)
_SO_DOMAIN = 39
_libc = kernel._libc
_getsockopt = _libc.getsockopt
_getsockopt.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)
_getsockname = _libc.getsockname
_getsockname.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)


def option(fd: int, level: int, name: int, size: int = 4) -> bytes:
    """The raw value of a socket option. Raises OSError if the descriptor is no socket or lacks the option."""
    value = ctypes.create_string_buffer(size)
    length = ctypes.c_uint(size)
    if _getsockopt(fd, level, name, value, ctypes.byref(length)) < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return value.raw[: length.value]


def local_address(fd: int) -> bytes:
    """The raw address the socket is bound to."""
    value = ctypes.create_string_buffer(sockaddr.LIMIT)
    length = ctypes.c_uint(sockaddr.LIMIT)
    if _getsockname(fd, value, ctypes.byref(length)) < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return value.raw[: length.value]


@dataclass(frozen=True, slots=True)
class Nature:
    """A socket's family and type: what never changes about it, but for a v6 socket turned v4."""

    family: int
    kind: int

    @classmethod
    def of(cls, fd: int) -> Nature:
        """Ask the kernel. Raises OSError(ENOTSOCK) if it is no socket."""
        family = struct.unpack("=i", option(fd, socket.SOL_SOCKET, _SO_DOMAIN))[0]
        return cls(family, struct.unpack("=i", option(fd, socket.SOL_SOCKET, socket.SO_TYPE))[0])

    @property
    def inet(self) -> bool:
        """True for IPv4 and IPv6."""
        return self.family in INET

    @property
    def protocol(self) -> str:
        """`tcp`, `udp` or `unix`, for reports."""
        if not self.inet:
            return "unix"
        return "tcp" if self.kind == socket.SOCK_STREAM else "udp"


def waits(fd: int, flags: int = 0) -> bool:
    """True when a call on the socket may block: neither the open file nor the call says otherwise."""
    return not flags & socket.MSG_DONTWAIT and not fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_NONBLOCK


def send_timeout_s(fd: int) -> float | None:
    """SO_SNDTIMEO in seconds, None where there is none."""
    seconds, microseconds = struct.unpack("=qq", option(fd, socket.SOL_SOCKET, 21, 16))
    total = float(seconds) + microseconds / 1e6
    return total or None


def peer_pid(fd: int) -> int | None:
    """The process at the other end of a connected AF_UNIX socket, None where the kernel does not say."""
    pid = struct.unpack("=iII", option(fd, socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
    return int(pid) or None


def refusal(number: int) -> int:
    """An answer that is an error."""
    return -(number or errno.EPERM)
