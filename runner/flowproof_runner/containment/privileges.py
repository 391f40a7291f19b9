"""Giving up what neither the agent nor its supervisor may hold.

A supervisor with more privilege than its agent is a deputy to be confused: it carries out the agent's calls.
"""

from __future__ import annotations

import contextlib
import ctypes
import struct

from flowproof_runner.containment import abi, kernel


def drop() -> None:
    """Give up every capability for good, in this process and all it starts, and the gain from set-id programs."""
    _empty_bounding_set()
    # Without CAP_SETPCAP the bits cannot be set, nor is there anything they would bring back.
    with contextlib.suppress(PermissionError):
        kernel.prctl(abi.PR_SET_SECUREBITS, abi.SECUREBITS_NOROOT_LOCKED)
    kernel.prctl(abi.PR_CAP_AMBIENT, abi.PR_CAP_AMBIENT_CLEAR_ALL)
    _capset_nothing()
    kernel.prctl(abi.PR_SET_NO_NEW_PRIVS, 1)


def _empty_bounding_set() -> None:
    for capability in range(64):
        try:
            kernel.prctl(abi.PR_CAPBSET_DROP, capability)
        except OSError:  # EPERM: nothing to drop with; EINVAL: past the last capability
            return


def _capset_nothing() -> None:
    head = ctypes.create_string_buffer(struct.pack("=Ii", abi.CAPABILITY_VERSION_3, 0), 8)
    kernel.syscall_with("capset", head, ctypes.create_string_buffer(24))
