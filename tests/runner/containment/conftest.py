"""A kernel's view of a filter: what the kernel would answer to a system call, without making it."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest

type Verdict = Callable[[bytes, int, int, tuple[int, ...]], str]

_ACTIONS = {0x7FFF0000: "allow", 0x7FC00000: "ask", 0x80000000: "kill"}


def run(program: bytes, number: int, arch: int, args: tuple[int, ...]) -> str:
    """Interpret classic BPF over a struct seccomp_data, as far as libseccomp uses it."""
    data = struct.pack("=iIQ6Q", number, arch, 0, *(*args, *[0] * (6 - len(args))))
    code = list(struct.iter_unpack("=HBBI", program))
    at, accumulator = 0, 0
    while True:
        operation, when_true, when_false, k = code[at]
        at += 1
        match operation:
            case 0x20:  # BPF_LD | BPF_W | BPF_ABS
                accumulator = struct.unpack_from("=I", data, k)[0]
            case 0x54:  # BPF_ALU | BPF_AND | BPF_K
                accumulator &= k
            case 0x15 | 0x25 | 0x35 | 0x45:  # JEQ, JGT, JGE, JSET against a constant
                holds = {0x15: accumulator == k, 0x25: accumulator > k, 0x35: accumulator >= k, 0x45: accumulator & k}
                at += when_true if holds[operation] else when_false
            case 0x05:  # JA
                at += k
            case 0x06:  # RET
                return f"errno {k & 0xFFFF}" if k & 0xFFFF0000 == 0x00050000 else _ACTIONS[k]
            case _:
                raise AssertionError(f"instruction {operation:#x} is not known to this interpreter")


@pytest.fixture
def kernel_says() -> Verdict:
    """`kernel_says(program, number, arch, args)` gives `allow`, `ask`, `kill` or `errno N`."""
    return run
