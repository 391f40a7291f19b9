"""The few system calls Python does not wrap, as functions that raise OSError.

Every prototype is declared once, at import: a handler runs once per trapped call and cannot afford ctypes guessing.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import struct

from flowproof_runner.containment import abi

_libc = ctypes.CDLL(None, use_errno=True)
_syscall = _libc.syscall
_syscall.restype = ctypes.c_long
_pidfd_open = _libc["syscall"]  # indexing gives a function of its own, which can have a prototype of its own
_pidfd_open.argtypes = (ctypes.c_long, ctypes.c_int, ctypes.c_uint)
_pidfd_getfd = _libc["syscall"]
_pidfd_getfd.argtypes = (ctypes.c_long, ctypes.c_int, ctypes.c_int, ctypes.c_uint)
_prctl = _libc.prctl
_prctl.argtypes = (ctypes.c_int, ctypes.c_ulong, ctypes.c_ulong, ctypes.c_ulong, ctypes.c_ulong)
_readv = getattr(_libc, "process_vm_readv", None)
_connect = _libc.connect
_connect.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
_bind = _libc.bind
_bind.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)


class Iovec(ctypes.Structure):
    """struct iovec."""

    _fields_ = (("base", ctypes.c_void_p), ("len", ctypes.c_size_t))


class Msghdr(ctypes.Structure):
    """struct msghdr."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("namelen", ctypes.c_uint),
        ("iov", ctypes.POINTER(Iovec)),
        ("iovlen", ctypes.c_size_t),
        ("control", ctypes.c_char_p),
        ("controllen", ctypes.c_size_t),
        ("flags", ctypes.c_int),
    )


if _readv is not None:
    _readv.argtypes = (
        ctypes.c_int,
        ctypes.c_void_p,
        ctypes.c_ulong,
        ctypes.c_void_p,
        ctypes.c_ulong,
        ctypes.c_ulong,
    )
    _readv.restype = ctypes.c_ssize_t
_sendmsg = _libc.sendmsg
_sendmsg.argtypes = (ctypes.c_int, ctypes.POINTER(Msghdr), ctypes.c_int)
_sendmsg.restype = ctypes.c_ssize_t


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def syscall(name: str, *arguments: int) -> int:
    """Make a system call with integer arguments."""
    return _checked(int(_syscall(ctypes.c_long(abi.NUMBER[name]), *map(ctypes.c_long, arguments))))


def syscall_with(name: str, *arguments: int | ctypes.Array[ctypes.c_char] | None) -> int:
    """Make a system call some of whose arguments are buffers."""
    words = (a if isinstance(a, ctypes.Array) else ctypes.c_long(a or 0) for a in arguments)
    return _checked(int(_syscall(ctypes.c_long(abi.NUMBER[name]), *words)))


def prctl(option: int, value: int = 0) -> None:
    """Set one attribute of this process."""
    _checked(int(_prctl(option, value, 0, 0, 0)))


def pidfd_open(pid: int, flags: int = 0) -> int:
    """A descriptor of a process that no reuse of its number can redirect."""
    return _checked(_pidfd_open(abi.NUMBER["pidfd_open"], pid, flags))


def pidfd_getfd(pidfd: int, fd: int) -> int:
    """Duplicate a descriptor of another process: the same open file, not a copy of it."""
    return _checked(_pidfd_getfd(abi.NUMBER["pidfd_getfd"], pidfd, fd, 0))


type Vectors = ctypes.Array[Iovec] | ctypes.Array[ctypes.c_char]


def read_vectors(pid: int, local: Vectors, remote: Vectors | int, count: int) -> int:
    """Copy from another process's memory into one vector; what is copied may fall short where its memory ends.

    Vectors are arrays of Iovec, or the bytes of one, at an address: filling structures costs as much as the call.
    """
    return _checked(int(_readv(pid, local, 1, remote, count, 0)) if _readv else -1)


def connect(fd: int, address: bytes) -> int:
    """connect(2) with a raw address; 0 or the errno."""
    return 0 if _connect(fd, address, len(address)) == 0 else ctypes.get_errno()


def bind(fd: int, address: bytes) -> int:
    """bind(2) with a raw address; 0 or the errno."""
    return 0 if _bind(fd, address, len(address)) == 0 else ctypes.get_errno()


def sendmsg(fd: int, message: Msghdr, flags: int) -> int:
    """sendmsg(2); the number of bytes sent, or minus the errno."""
    sent = int(_sendmsg(fd, ctypes.byref(message), flags))
    return sent if sent >= 0 else -ctypes.get_errno()


def install_filter(program: bytes) -> tuple[int, int]:
    """Put this thread under a seccomp filter; gives the listener and the flags the kernel accepted.

    WAIT_KILLABLE_RECV (5.19) keeps a signal from repeating a call that is already being carried out.
    """
    code = ctypes.create_string_buffer(program, len(program))
    head = ctypes.create_string_buffer(struct.pack("@HP", len(program) // 8, ctypes.addressof(code)), 16)
    flags = abi.FLAG_NEW_LISTENER | abi.FLAG_WAIT_KILLABLE_RECV
    try:
        return syscall_with("seccomp", abi.SET_MODE_FILTER, flags, head), flags
    except OSError as error:
        if error.errno != 22:
            raise
    return syscall_with("seccomp", abi.SET_MODE_FILTER, abi.FLAG_NEW_LISTENER, head), abi.FLAG_NEW_LISTENER


def wake_in_place(listener: int) -> None:
    """Have whoever waits for a call or for its answer wake on the processor where it was made, since Linux 6.6.

    Task and supervisor take turns; on a processor that slept, each turn would wait for it to wake.
    """
    with contextlib.suppress(OSError):
        fcntl.ioctl(listener, abi.IOCTL_SET_FLAGS, abi.SYNC_WAKE_UP)


def still_waiting(listener: int, identity: bytes) -> bool:
    """True while the task that made the call is blocked in it, so that what was read of it was its own."""
    try:
        fcntl.ioctl(listener, abi.IOCTL_ID_VALID, identity)
    except OSError:
        return False
    return True


def listen(fd: int, backlog: int) -> int:
    """listen(2); 0 or the errno."""
    return 0 if _libc.listen(fd, backlog) == 0 else ctypes.get_errno()
