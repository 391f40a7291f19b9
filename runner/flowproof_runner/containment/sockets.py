"""What a duplicated socket says of itself."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import socket
import struct
import threading

from flowproof_runner.containment import kernel, sockaddr

INET = (socket.AF_INET, socket.AF_INET6)
_SO_DOMAIN = 39
_libc = kernel._libc
_getsockopt = _libc.getsockopt
_getsockopt.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)
_getsockopt_int = _libc["getsockopt"]
_getsockopt_int.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
_getsockname = _libc.getsockname
_getsockname.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)


class _Number(threading.local):
    """Where a thread receives the value of an option of type int."""

    def __init__(self) -> None:
        self.value = ctypes.c_int()
        self.length = ctypes.c_uint(4)
        self.at, self.size = ctypes.byref(self.value), ctypes.byref(self.length)


_number = _Number()


def number(fd: int, level: int, name: int) -> int:
    """The value of a socket option of type int. Raises OSError if the descriptor is no socket or lacks the option."""
    if _getsockopt_int(fd, level, name, _number.at, _number.size) < 0:
        wrong = ctypes.get_errno()
        raise OSError(wrong, os.strerror(wrong))
    return _number.value.value


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


class Nature:
    """A socket's family and type: what never changes about it, but for a v6 socket turned v4.

    Made from a descriptor. Raises OSError(ENOTSOCK) if it is no socket.
    """

    __slots__ = ("_fd", "family")

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self.family = number(fd, socket.SOL_SOCKET, _SO_DOMAIN)

    @property
    def kind(self) -> int:
        """SOCK_STREAM and so on; asked for only where it matters."""
        return number(self._fd, socket.SOL_SOCKET, socket.SO_TYPE)

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


def timeout_s(fd: int, name: int) -> float | None:
    """SO_SNDTIMEO or SO_RCVTIMEO in seconds, None where there is none."""
    seconds, microseconds = struct.unpack("=qq", option(fd, socket.SOL_SOCKET, name, 16))
    total = float(seconds) + microseconds / 1e6
    return total or None


def peer_pid(fd: int) -> int | None:
    """The process at the other end of a connected AF_UNIX socket, None where the kernel does not say."""
    pid = struct.unpack("=iII", option(fd, socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
    return int(pid) or None


def refusal(number: int) -> int:
    """An answer that is an error."""
    return -(number or errno.EPERM)
