"""What destroys a file is told with the right path, and never prevented; what only reads is not even looked at."""

from __future__ import annotations

from typing import Any

import pytest
from tests.e2e.containment.harness import Harness

DESTROY = """
import ctypes, os, struct
libc = ctypes.CDLL(None, use_errno=True)
os.makedirs("d/e"); here = os.open("d", os.O_RDONLY)
for name in ("a", "b", "c", "d/x", "d/y", "t", "f", "o", "w", "z"):
    open(name, "x").close()
os.unlink("a")
os.unlink("x", dir_fd=here)
os.rmdir("e", dir_fd=here)
os.mkdir("empty"); os.rmdir("empty")
os.rename("b", "b2")
os.rename("y", "y2", src_dir_fd=here, dst_dir_fd=here)
os.truncate("t", 0)
with open("f", "r+") as file:
    os.ftruncate(file.fileno(), 0)
open("w", "w").close()
how = struct.pack("=QQQ", os.O_WRONLY | os.O_TRUNC, 0, 0)
assert libc.syscall(437, -100, b"o", how, 24) > 0
open("/dev/null", "w").close()
os.makedirs("run", exist_ok=True); open("run/ours", "w").close(); os.unlink("run/ours")
print(sorted(os.listdir()))
"""
READ = """
import os
open("kept", "x").close()
for _ in range(1000):
    open("kept").close()
open("kept", "a").write("more")
os.stat("kept"); os.listdir()
"""


def told(harness: Harness, report: Any) -> list[tuple[str, ...]]:
    base = f"{harness.folder}/"
    return [(one["call"], *(path.removeprefix(base) for path in one["paths"]), one["flags"]) for one in report["files"]]


def test_every_way_to_destroy_a_file_is_told_and_none_is_prevented(harness: Harness) -> None:
    plain = harness.plain("python", "-c", DESTROY)
    for path in harness.folder.iterdir():
        if path.name in ("b2", "c", "t", "f", "o", "w", "z"):
            path.unlink()
    harness.plain("python", "-c", "import shutil; shutil.rmtree('d'); shutil.rmtree('run')")
    done = harness.contained("python", "-c", DESTROY)
    assert done.out == plain.out
    assert told(harness, done.report) == [
        ("unlink", "a", ""),
        ("unlinkat", "d/x", ""),
        ("unlinkat", "d/e", ""),
        ("rmdir", "empty", ""),
        ("rename", "b", "b2", ""),
        ("renameat", "d/y", "d/y2", ""),
        ("truncate", "t", ""),
        ("ftruncate", "f", ""),
        ("openat", "w", "O_WRONLY|O_CREAT|O_TRUNC"),
        ("openat2", "o", "O_WRONLY|O_TRUNC"),
    ]


def test_reading_and_appending_are_not_looked_at(harness: Harness) -> None:
    done = harness.contained("python", "-c", READ)
    assert (done.code, done.report["files"]) == (0, [])


@pytest.mark.parametrize(
    ("program", "call", "path"),
    [
        ("open('kept', 'a').write('x')", "openat", "kept"),
        ("open('kept', 'r+').close()", "openat", "kept"),
        ("open('made', 'x').close()", "openat", "made"),
        ("import os; os.mkdir('made')", "mkdir", "made"),
        ("import os; os.symlink('kept', 'made')", "symlink", "made"),
        ("import os; os.link('kept', 'made')", "link", "made"),
        ("import os; os.mkfifo('made')", "mknodat", "made"),
        ("import _socket; _socket.socket(1).bind('made')", "bind", "made"),
    ],
)
def test_under_the_control_every_write_is_seen(harness: Harness, program: str, call: str, path: str) -> None:
    kept = harness.folder / "kept"
    kept.touch()
    kept.chmod(0o666)
    done = harness.contained("python", "-I", "-S", "-c", program, policy={"writes": True})
    assert done.code == 0, done
    assert [line[:2] for line in told(harness, done.report)] == [(call, path)]
    assert (
        harness.contained("python", "-I", "-S", "-c", "open('kept').read()", policy={"writes": True}).report["files"]
        == []
    )
