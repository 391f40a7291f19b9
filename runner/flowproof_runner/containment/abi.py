"""Numbers of the Linux kernel interface that Python's standard library does not name.

Sources: include/uapi/linux/{seccomp,landlock,prctl,pidfd,capability,in,in6,tcp,io_uring}.h and the two system call
tables (arch/x86/entry/syscalls/syscall_64.tbl, include/uapi/asm-generic/unistd.h), read 2026-12-02.
"""

from __future__ import annotations

import os
from typing import Final

NUMBERS: Final[dict[str, dict[str, int]]] = {
    "x86_64": {
        "open": 2,
        "ioctl": 16,
        "socket": 41,
        "connect": 42,
        "sendto": 44,
        "recvfrom": 45,
        "sendmsg": 46,
        "recvmsg": 47,
        "bind": 49,
        "listen": 50,
        "setsockopt": 54,
        "truncate": 76,
        "ftruncate": 77,
        "rename": 82,
        "mkdir": 83,
        "rmdir": 84,
        "creat": 85,
        "link": 86,
        "unlink": 87,
        "symlink": 88,
        "ptrace": 101,
        "capset": 126,
        "mknod": 133,
        "prctl": 157,
        "tgkill": 234,
        "request_key": 249,
        "openat": 257,
        "mkdirat": 258,
        "mknodat": 259,
        "unlinkat": 263,
        "renameat": 264,
        "linkat": 265,
        "symlinkat": 266,
        "sendmmsg": 307,
        "process_vm_readv": 310,
        "process_vm_writev": 311,
        "renameat2": 316,
        "seccomp": 317,
    },
    "aarch64": {
        "ioctl": 29,
        "mknodat": 33,
        "mkdirat": 34,
        "unlinkat": 35,
        "symlinkat": 36,
        "linkat": 37,
        "renameat": 38,
        "truncate": 45,
        "ftruncate": 46,
        "openat": 56,
        "capset": 91,
        "ptrace": 117,
        "tgkill": 131,
        "prctl": 167,
        "socket": 198,
        "bind": 200,
        "listen": 201,
        "connect": 203,
        "sendto": 206,
        "recvfrom": 207,
        "setsockopt": 208,
        "sendmsg": 211,
        "recvmsg": 212,
        "request_key": 218,
        "sendmmsg": 269,
        "process_vm_readv": 270,
        "process_vm_writev": 271,
        "renameat2": 276,
        "seccomp": 277,
    },
}
_EVERYWHERE: Final = {  # numbers from 424 on are the same on every architecture
    "io_uring_setup": 425,
    "pidfd_open": 434,
    "openat2": 437,
    "pidfd_getfd": 438,
    "landlock_create_ruleset": 444,
    "landlock_add_rule": 445,
    "landlock_restrict_self": 446,
}
for _table in NUMBERS.values():
    _table.update(_EVERYWHERE)

MACHINE: Final = os.uname().machine if hasattr(os, "uname") else ""
NUMBER: Final = NUMBERS.get(MACHINE, {})
"""System call numbers of this machine; empty where containment knows no numbers."""

AUDIT_ARCH: Final = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

# seccomp(2)
SET_MODE_FILTER: Final = 1
FLAG_NEW_LISTENER: Final = 8
FLAG_WAIT_KILLABLE_RECV: Final = 32
IOCTL_RECV: Final = 0xC0502100
IOCTL_SEND: Final = 0xC0182101
IOCTL_ID_VALID: Final = 0x40082102
IOCTL_SET_FLAGS: Final = 0x40082104
SYNC_WAKE_UP: Final = 1
NOTIF: Final = "=QIIiIQ6Q"
"""struct seccomp_notif: id, pid, flags, then seccomp_data: nr, arch, instruction pointer, six arguments."""
NOTIF_SIZE: Final = 80
RESPONSE: Final = "=QqiI"
"""struct seccomp_notif_resp: id, val, error (negative errno), flags."""
USER_NOTIF_FLAG_CONTINUE: Final = 1
ERESTARTSYS: Final = 512
"""Kernel-internal: EINTR to the program, or a restart where its handler was installed with SA_RESTART."""

# prctl(2)
PR_SET_PDEATHSIG: Final = 1
PR_SET_DUMPABLE: Final = 4
PR_CAPBSET_DROP: Final = 24
PR_SET_SECUREBITS: Final = 28
PR_SET_CHILD_SUBREAPER: Final = 36
PR_SET_NO_NEW_PRIVS: Final = 38
PR_CAP_AMBIENT: Final = 47
PR_CAP_AMBIENT_CLEAR_ALL: Final = 4
SECUREBITS_NOROOT_LOCKED: Final = 0x2F
"""NOROOT, NO_SETUID_FIXUP and KEEP_CAPS off, each locked: uid 0 brings no capability back at exec."""
CAPABILITY_VERSION_3: Final = 0x20080522

PIDFD_THREAD: Final = 0o200
"""pidfd_open(2) of a thread that is no leader, since Linux 6.9."""

# Landlock
LANDLOCK_CREATE_RULESET_VERSION: Final = 1
LANDLOCK_ACCESS_FS_MAKE_SYM: Final = 1 << 12
LANDLOCK_ACCESS_NET: Final = 0b11
"""BIND_TCP and CONNECT_TCP, since ABI 4."""
LANDLOCK_SCOPE: Final = 0b11
"""ABSTRACT_UNIX_SOCKET and SIGNAL, since ABI 6."""

MSG_FASTOPEN: Final = 0x20000000
SCM_TXTIME: Final = 61
