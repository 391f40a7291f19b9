"""Ways to make the call that only machine code has: another entry into the kernel, shared memory, a private table."""

from __future__ import annotations

import platform
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.e2e.containment.harness import PROGRAMS, Harness
from tests.e2e.containment.network import PORTS, sink

ELSEWHERE, PORT = "127.0.0.2", PORTS + 500
POLICY = {"off_host": [f"{ELSEWHERE}/32"]}
I386 = ("-m32", "-nostdlib", "-static", f"-DPORT={PORT}", "-DHOST=127,0,0,2")


@pytest.fixture
def compiled(harness: Harness) -> Callable[..., Path]:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        pytest.skip("no C compiler")

    def compile(*flags: str) -> Path:
        to = harness.folder / "native"
        words = [compiler, "-O1", *flags, "-o", str(to), str(PROGRAMS / "native.c"), "-lpthread"]
        if subprocess.run(words[:-1] if flags else words, capture_output=True).returncode:
            pytest.skip(f"the compiler cannot do {' '.join(flags)}")
        return to

    return compile


HOW = ["vfork", "clone_vm", "unshared_files", "own_filter", "tracer", "memory", "namespaces", "descriptor"]


@pytest.mark.parametrize("how", HOW)
def test_whoever_is_started_however_is_under_the_filter(
    harness: Harness, compiled: Callable[..., Path], how: str
) -> None:
    words = (compiled(), ELSEWHERE, str(PORT), how)
    with sink("sockets", ELSEWHERE, PORT, 1) as counting:
        plain = harness.plain(*words).out
        if how in ("namespaces", "tracer") and plain in ("EPERM\n", "ENOSPC\n", "ENOSYS\n"):
            pytest.skip("not to be had on this machine")
        assert plain == "ok\n"
        assert len(counting.seen()) == 1
        done = harness.contained(*words, policy=POLICY)
        assert (done.out, done.destinations()) == ("EACCES\n", {f"{ELSEWHERE}:{PORT}"})
        assert counting.seen() == []


@pytest.mark.skipif(platform.machine() != "x86_64", reason="i386 calls exist on x86_64 only")
@pytest.mark.parametrize("flags", [(), I386], ids=["from a 64-bit program", "from a 32-bit program"])
def test_a_call_through_the_32_bit_entry_kills_the_process(
    harness: Harness, compiled: Callable[..., Path], flags: tuple[str, ...]
) -> None:
    words = (compiled(*flags), ELSEWHERE, str(PORT), "int80")
    with sink("sockets", ELSEWHERE, PORT, 1) as counting:
        if harness.plain(*words).code != 0:
            pytest.skip("this kernel has no 32-bit calls")
        assert len(counting.seen()) == 1
        assert harness.contained(*words, policy=POLICY).code == -signal.SIGSYS
        assert counting.seen() == []
