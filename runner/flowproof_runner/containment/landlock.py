"""A Landlock domain for the agent: the second layer, below the seccomp filter.

It judges the *caller*, so only the supervisor, outside the domain, can connect or listen over TCP at all; and it keeps
the agent from tracing, reading or signalling any process outside its own tree.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct

from flowproof_runner.containment import abi, kernel

_WITH_NETWORK = 4
_WITH_SCOPES = 6


def available() -> int:
    """The ABI version of this kernel, 0 where Landlock is missing or switched off."""
    try:
        return kernel.syscall("landlock_create_ruleset", 0, 0, abi.LANDLOCK_CREATE_RULESET_VERSION)
    except OSError as error:
        if error.errno in (errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM):
            return 0
        raise


def attributes(version: int) -> bytes:
    """What a domain of this ABI version restricts: struct landlock_ruleset_attr, as long as that version knows it.

    Before ABI 4 there is no network to restrict. A domain must handle something, so it handles making symbolic links,
    and `restrict` allows them everywhere: what is wanted is the rule against tracing out, which any domain brings.
    """
    if version >= _WITH_SCOPES:
        return struct.pack("=QQQ", 0, abi.LANDLOCK_ACCESS_NET, abi.LANDLOCK_SCOPE)
    if version >= _WITH_NETWORK:
        return struct.pack("=QQ", 0, abi.LANDLOCK_ACCESS_NET)
    return struct.pack("=Q", abi.LANDLOCK_ACCESS_FS_MAKE_SYM)


def restrict(version: int) -> None:
    """Put this process under a domain; no_new_privs must be set. Raises OSError if the kernel refuses."""
    wanted = attributes(version)
    ruleset = kernel.syscall_with(
        "landlock_create_ruleset", ctypes.create_string_buffer(wanted, len(wanted)), len(wanted), 0
    )
    try:
        if version < _WITH_NETWORK:
            _allow_links(ruleset)
        kernel.syscall("landlock_restrict_self", ruleset, 0)
    finally:
        os.close(ruleset)


def _allow_links(ruleset: int) -> None:
    root = os.open("/", os.O_PATH | os.O_CLOEXEC)
    rule = struct.pack("=Qi", abi.LANDLOCK_ACCESS_FS_MAKE_SYM, root)
    try:
        kernel.syscall_with("landlock_add_rule", ruleset, 1, ctypes.create_string_buffer(rule, len(rule)), 0)
    finally:
        os.close(root)
