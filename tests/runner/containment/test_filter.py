"""The compiled filter does to each system call what the rules say, whatever lies in the unused half of a register."""

from __future__ import annotations

import errno
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowproof_runner.containment import abi, filter, rules
from flowproof_runner.containment.abi import MACHINE, NUMBER
from flowproof_runner.containment.rules import Condition, Rule

pytestmark = pytest.mark.skipif(sys.platform != "linux" or not NUMBER, reason="the filter is Linux's")

type Says = Callable[..., str]
GARBAGE = 0xABCD_EF01 << 32
ARCH = abi.AUDIT_ARCH.get(MACHINE, 0)
FASTOPEN = 0x20000000
INET, INET6, UNIX, NETLINK, PACKET = 2, 10, 1, 16, 17
STREAM, DGRAM, RAW = 1, 2, 3
NONBLOCK, CLOEXEC = socket.SOCK_NONBLOCK, socket.SOCK_CLOEXEC


def refused(number: int) -> str:
    return f"errno {number}"


DECISIONS: list[tuple[str, tuple[int, ...], str]] = [
    ("connect", (3, 0x7FFF_0000, 16), "ask"),
    ("bind", (3, 0x7FFF_0000, 16), "ask"),
    ("listen", (3, 5), "ask"),
    ("sendmsg", (3, 0x7FFF_0000, 0), "ask"),
    ("sendmmsg", (3, 0x7FFF_0000, 2, 0), "ask"),
    ("sendto", (3, 0x7FFF_0000, 6, 0, 0, 0), "allow"),
    ("sendto", (3, 0x7FFF_0000, 6, 0, 0, 16), "allow"),
    ("sendto", (3, 0x7FFF_0000, 6, 0, 0x7FFF_1000, 16), "ask"),
    ("sendto", (3, 0x7FFF_0000, 6, 0, 0x7FFF << 32, 16), "ask"),
    ("sendto", (3, 0x7FFF_0000, 6, FASTOPEN, 0, 0), refused(errno.EOPNOTSUPP)),
    ("sendto", (3, 0x7FFF_0000, 6, FASTOPEN | GARBAGE, 0, 0), refused(errno.EOPNOTSUPP)),
    ("recvfrom", (3, 0x7FFF_0000, 512, 0, 0, 0), "allow"),
    ("recvfrom", (3, 0x7FFF_0000, 512, 0, 0x7FFF_1000, 0x7FFF_2000), "ask"),
    ("recvfrom", (3, 0x7FFF_0000, 512, 0, 0x7FFF << 32, 0x7FFF_2000), "ask"),
    ("recvmsg", (3, 0x7FFF_0000, 0), "allow"),
    *(("socket", (family, kind, 0), "allow") for family in (INET, INET6, UNIX) for kind in (STREAM, DGRAM)),
    ("socket", (INET, STREAM | NONBLOCK | CLOEXEC, 6), "allow"),
    ("socket", (INET6, DGRAM | CLOEXEC, 17), "allow"),
    ("socket", (UNIX, 5, 0), "allow"),
    ("socket", (NETLINK, RAW | CLOEXEC, 0), "allow"),
    ("socket", (NETLINK, DGRAM, 16), "allow"),
    ("socket", (PACKET, RAW, 0), refused(errno.EAFNOSUPPORT)),
    ("socket", (PACKET | GARBAGE, RAW, 0), refused(errno.EAFNOSUPPORT)),
    ("socket", (INET | GARBAGE, RAW, 1), refused(errno.EPROTONOSUPPORT)),
    ("socket", (INET | GARBAGE, RAW, 0), refused(errno.EPERM)),
    ("socket", (INET, RAW | GARBAGE | NONBLOCK, 0), refused(errno.EPERM)),
    ("socket", (INET, 10, 0), refused(errno.EPERM)),
    ("socket", (INET, STREAM, 262), refused(errno.EPROTONOSUPPORT)),
    ("socket", (INET, STREAM, 262 | GARBAGE), refused(errno.EPROTONOSUPPORT)),
    ("socket", (INET6, STREAM, 1 | GARBAGE), refused(errno.EPROTONOSUPPORT)),
    ("socket", (INET, DGRAM, 0xFFFFFFFF), refused(errno.EPROTONOSUPPORT)),
    *(("socket", (family, RAW, 0), refused(errno.EAFNOSUPPORT)) for family in (3, 28, 38, 40, 44, 45, 63, 64, 1 << 20)),
    ("setsockopt", (3, 1, 25), refused(errno.EPERM)),
    ("setsockopt", (3, 1 | GARBAGE, 25 | GARBAGE), refused(errno.EPERM)),
    ("setsockopt", (3, 1, 60), refused(errno.ENOPROTOOPT)),
    ("setsockopt", (3, 1, 2), "allow"),
    ("setsockopt", (3, 0, 4), refused(errno.EPERM)),
    ("setsockopt", (3, 0, 50), refused(errno.EPERM)),
    ("setsockopt", (3, 0, 2), "allow"),
    ("setsockopt", (3, 41, 57), refused(errno.EPERM)),
    ("setsockopt", (3, 41, 32), refused(errno.EPERM)),
    ("setsockopt", (3, 41, 26), "allow"),
    ("setsockopt", (3, 6, 30), refused(errno.ENOPROTOOPT)),
    ("setsockopt", (3, 6, 1), "allow"),
    ("io_uring_setup", (8, 0), refused(errno.ENOSYS)),
    ("request_key", (1, 1, 1, 0), refused(errno.ENOSYS)),
    ("ioctl", (3, 0x400454CA, 0), refused(errno.EPERM)),
    ("ioctl", (3, 0x400454CA | GARBAGE, 0), refused(errno.EPERM)),
    ("ioctl", (3, 0x5401, 0), "allow"),
    ("prctl", (4, 0), refused(0)),
    ("prctl", (4 | GARBAGE, 0), refused(0)),
    ("prctl", (4, 1), "allow"),
    ("prctl", (38, 1), "allow"),
    ("openat", (3, 1, os.O_RDONLY), "allow"),
    ("openat", (3, 1, os.O_WRONLY | os.O_CREAT | os.O_APPEND), "allow"),
    ("openat", (3, 1, os.O_WRONLY | os.O_TRUNC), "ask"),
    ("openat", (3, 1, os.O_WRONLY | os.O_TRUNC | GARBAGE), "ask"),
    ("open", (1, os.O_RDONLY), "allow"),
    ("open", (1, os.O_RDWR | os.O_TRUNC), "ask"),
    *((name, (0, 0, 0, 0), "ask") for name in ("unlink", "unlinkat", "rmdir", "rename", "renameat", "renameat2")),
    *((name, (0, 0, 0, 0), "ask") for name in ("truncate", "ftruncate", "creat", "openat2")),
    ("mkdir", (1, 0), "allow"),
    ("ptrace", (16, 1), "allow"),
]


@pytest.mark.parametrize(("name", "args", "expected"), DECISIONS)
def test_a_call_is_let_be_refused_or_asked_about(
    kernel_says: Says, name: str, args: tuple[int, ...], expected: str
) -> None:
    if name not in NUMBER:
        pytest.skip(f"{MACHINE} has no {name}")
    assert kernel_says(filter.program(landlock=True), NUMBER[name], ARCH, args) == expected


@pytest.mark.parametrize("name", ["ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd"])
def test_without_landlock_the_filter_closes_what_landlock_would(kernel_says: Says, name: str) -> None:
    assert kernel_says(filter.program(landlock=True), NUMBER[name], ARCH, (1, 1)) == "allow"
    assert kernel_says(filter.program(landlock=False), NUMBER[name], ARCH, (1, 1)) == refused(errno.EPERM)


@pytest.mark.parametrize("flags", [os.O_WRONLY, os.O_RDWR, os.O_CREAT, os.O_WRONLY | os.O_APPEND])
def test_under_the_control_every_open_that_may_write_is_asked_about(kernel_says: Says, flags: int) -> None:
    program = filter.program(landlock=True, writes=True)
    assert kernel_says(program, NUMBER["openat"], ARCH, (3, 1, flags)) == "ask"
    assert kernel_says(program, NUMBER["openat"], ARCH, (3, 1, os.O_RDONLY | os.O_CLOEXEC)) == "allow"
    assert kernel_says(program, NUMBER["mkdirat"], ARCH, (3, 1, 0)) == "ask"


def test_where_there_is_musl_its_resolvers_way_to_receive_is_asked_about(kernel_says: Says) -> None:
    assert kernel_says(filter.program(landlock=True, musl=True), NUMBER["recvmsg"], ARCH, (3, 1, 0)) == "ask"


@pytest.mark.skipif(MACHINE != "x86_64", reason="other entries into the kernel exist on x86_64")
@pytest.mark.parametrize(
    ("number", "arch"),
    [(359, 0x40000003), (102, 0x40000003), (0x40000000 | 42, ARCH), (0x40000000 | 41, ARCH)],
    ids=["i386 socket", "i386 socketcall", "x32 connect", "x32 socket"],
)
def test_a_call_in_the_numbers_of_another_architecture_kills(kernel_says: Says, number: int, arch: int) -> None:
    assert kernel_says(filter.program(landlock=True), number, arch, ()) == "kill"


words = st.one_of(
    st.sampled_from([0, 1, 2, 3, 4, 6, 10, 16, 17, 25, 41, 57, 60, 262, FASTOPEN, os.O_TRUNC]),
    st.integers(0, 2**64 - 1),
    st.builds(lambda low, high: low | high << 32, st.integers(0, 64), st.integers(0, 2**32 - 1)),
)


@given(name=st.sampled_from(sorted(NUMBER)), args=st.tuples(*[words] * 6), landlock=st.booleans())
def test_the_compiler_says_what_the_rules_say(name: str, args: tuple[int, ...], landlock: bool) -> None:
    """Where several rules fit, any of them may be the answer: asking, or one of the refusals."""
    from tests.runner.containment.conftest import run

    fitting = [
        "ask" if rule.errno is None else refused(rule.errno)
        for rule in rules.rules(landlock=landlock)
        if rule.syscall == name and all(test.holds(args[test.arg]) for test in rule.tests)
    ]
    said = run(filter.program(landlock=landlock), NUMBER[name], ARCH, args)
    assert said in (fitting or ["allow"])


def test_a_machine_without_numbers_has_no_filter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filter, "NUMBER", {})
    filter.program.cache_clear()
    with pytest.raises(filter.NoCompiler, match="no system call numbers"):
        filter.program(landlock=True)
    filter.program.cache_clear()


def test_a_compiler_that_refuses_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    import pyseccomp

    def refuse(*_: Any) -> None:
        raise OSError(errno.EINVAL, "no")

    monkeypatch.setattr(pyseccomp.SyscallFilter, "add_rule", refuse)
    with pytest.raises(filter.NoCompiler, match="libseccomp refused the filter"):
        filter.assemble((Rule("connect"),))


def test_every_rule_names_a_known_call_and_a_real_argument() -> None:
    everything = rules.rules(landlock=False, writes=True)
    assert {rule.syscall for rule in everything} <= set(abi.NUMBERS["x86_64"])
    assert all(0 <= test.arg < 6 for rule in everything for test in rule.tests)


def test_an_argument_of_type_int_is_never_compared_as_64_bits() -> None:
    """Only pointers, an unsigned long and a comparison that refuses garbage look at the upper half."""
    wide = {(r.syscall, t.arg, t.how) for r in rules.rules(landlock=False) for t in r.tests if t.mask != rules.INT}
    wide = {one for one in wide if one[2] != "masked" or one[0] == "prctl"}
    pointers = {("sendto", 4, "differs"), ("recvfrom", 4, "differs")}
    assert wide == pointers | {("socket", 2, "above"), ("prctl", 1, "masked")}


def test_the_numbers_are_the_kernels() -> None:
    names = sorted(NUMBER)
    source = "#include <sys/syscall.h>\n" + "\n".join(f"{name} SYS_{name}" for name in names)
    if not shutil.which("cc"):
        pytest.skip("no C compiler")
    done = subprocess.run(["cc", "-E", "-P", "-x", "c", "-"], input=source, capture_output=True, text=True)
    if done.returncode:
        pytest.skip("no kernel headers")
    found = dict(line.split() for line in done.stdout.splitlines() if line.split()[0] in names)
    assert {name: int(number) for name, number in found.items() if number.isdigit()}.items() <= NUMBER.items()
    assert len(found) == len(names)


def test_a_condition_reads_32_bits_unless_it_says_otherwise() -> None:
    assert Condition(0, 17).holds(17 | 1 << 40)
    assert not Condition(0, 0, rules.EVERY_BIT, "differs").holds(0)
    assert Condition(0, 0, rules.EVERY_BIT, "differs").holds(1 << 40)
    assert Condition(0, 17, rules.EVERY_BIT, "above").holds(1 << 40)
