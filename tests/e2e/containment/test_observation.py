"""What destroys a file is told with the right path, and never prevented; what only reads is not even looked at."""

from __future__ import annotations

import os
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
        ("import os; os.mkfifo('made', dir_fd=os.open('.', os.O_RDONLY))", "mknodat", "made"),
        ("open('out/link', 'a').write('x')", "openat", "kept"),
        ("open('out/dangling', 'w').write('x')", "openat", "made"),
        ("open('up/kept', 'r+').close()", "openat", "kept"),
        ("import os; os.truncate('out/link', 0)", "truncate", "kept"),
        ("import os; os.rename('out/link', 'out/other')", "rename", "out/link"),
        ("import os; one = os.open('kept', 0); open(f'/dev/fd/{one}', 'a').write('x')", "openat", "kept"),
        ("import os; one = os.open('kept', 0); open(f'/proc/self/fd/{one}', 'a').write('x')", "openat", "kept"),
    ],
)
def test_under_the_control_every_write_is_seen(harness: Harness, program: str, call: str, path: str) -> None:
    kept = harness.folder / "kept"
    kept.touch()
    kept.chmod(0o666)
    (harness.folder / "out").mkdir()
    (harness.folder / "out").chmod(0o777)
    (harness.folder / "out" / "link").symlink_to("../kept")
    (harness.folder / "out" / "dangling").symlink_to("../made")
    (harness.folder / "up").symlink_to(harness.folder)
    done = harness.contained("python", "-I", "-S", "-c", program, policy={"writes": True})
    assert done.code == 0, done
    assert [line[:2] for line in told(harness, done.report)] == [(call, path)]


def test_a_file_called_as_memory_is_shown_is_a_file(harness: Harness) -> None:
    program = "import os\ntry: os.unlink('/memfd:x (deleted)')\nexcept OSError: pass"
    done = harness.contained("python", "-I", "-S", "-c", program, policy={"writes": True})
    assert told(harness, done.report) == [("unlink", "/memfd:x (deleted)", "")]


def test_a_descriptor_that_cannot_be_followed_is_unresolved(harness: Harness) -> None:
    program = "import os\ntry: os.ftruncate(99, 0)\nexcept OSError: pass"
    done = harness.contained("python", "-I", "-S", "-c", program, policy={"writes": True})
    assert told(harness, done.report) == [("ftruncate", "(unresolved)", "")]


OWN_MOUNTS = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
if libc.unshare(0x10020000):
    print("no user namespace")
else:
    def bind(one, other):
        assert libc.mount(one, other, None, 0x1000, None) == 0, ctypes.get_errno()
    {mount}
    {write}
"""
BOUND = "bind(b'other', b'out')"


@pytest.mark.parametrize(
    ("mount", "write", "shown"),
    [
        ("", "open('out/new', 'x').close()", "out/new"),
        ("", "open('out/kept', 'a').close()", "out/kept"),
        ("bind(b'out', b'out')", "open('out/kept', 'a').close()", "out/kept"),
        (BOUND, "open(f'{os.getcwd()}/out/new', 'x').close()", "(own mounts) {folder}/out/new"),
        (BOUND, "open('out/kept', 'a').close()", "(own mounts) {folder}/out/kept"),
        (BOUND, "os.mkdir('out/new')", "(own mounts) {folder}/out/new"),
        (BOUND, "import _socket; _socket.socket(1).bind('out/new')", "(own mounts) {folder}/out/new"),
        ("bind(b'other/kept', b'out/kept')", "open('out/kept', 'a').close()", "(own mounts) {folder}/out/kept"),
        ("bind(b'other/kept', b'out/kept')", "os.truncate('out/kept', 0)", "(own mounts) {folder}/out/kept"),
    ],
)
def test_a_mount_of_the_agents_own_leads_nowhere_unseen(harness: Harness, mount: str, write: str, shown: str) -> None:
    """A folder that may be written, and over it another one mounted."""
    for name in ("out", "other"):
        folder = harness.folder / name
        folder.mkdir()
        folder.chmod(0o777)
        (folder / "kept").touch()
        (folder / "kept").chmod(0o666)
    program = OWN_MOUNTS.replace("{mount}", mount).replace("{write}", write)
    done = harness.contained("python", "-I", "-S", "-c", program, policy={"writes": True})
    if done.out:
        pytest.skip("this machine grants no user namespace")
    assert done.code == 0, done
    if "(own mounts)" in shown:
        assert all(one["existed"] for one in done.report["files"]), "what may be there counts as destroyed"
    paths = [line[1] for line in told(harness, done.report) if "/proc/" not in line[1]]
    assert paths == [shown.replace("{folder}", str(harness.folder))], done.report


HARMLESS = """
import os
open("kept").read(); open("out/link").read()
open("/dev/null", "w").close()
read, write = os.pipe()
os.ftruncate(os.memfd_create("memory"), 10)
for name in (f"/dev/fd/{write}", f"/proc/self/fd/{write}"):
    open(name, "w").close()
"""


def test_reading_and_writing_to_no_file_is_no_write(harness: Harness) -> None:
    (harness.folder / "kept").touch()
    (harness.folder / "out").mkdir()
    (harness.folder / "out" / "link").symlink_to("../kept")
    done = harness.contained("python", "-I", "-S", "-c", HARMLESS, policy={"writes": True})
    assert done.code == 0, done
    assert [path for one in done.report["files"] for path in one["paths"] if not path.startswith("/dev/fd/")] == []


RAW = """
import ctypes, os, platform
libc = ctypes.CDLL(None, use_errno=True)
for name in ("m", "n", "p"):
    os.close(os.open(name, os.O_CREAT | os.O_WRONLY))
os.close(libc.syscall(85, b"m", 0o600))
os.close(libc.syscall(2, b"n", os.O_WRONLY | os.O_TRUNC, 0))
assert libc.syscall(316, -100, b"n", -100, b"p", 2) == 0
assert libc.syscall(87, ctypes.c_void_p(16)) == -1 and ctypes.get_errno() == 14
"""


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the calls are numbered for x86_64")
def test_calls_that_no_library_makes_are_seen_and_an_unreadable_path_is_unresolved(harness: Harness) -> None:
    done = harness.contained("python", "-c", RAW)
    assert (done.code, done.report["faults"]) == (0, []), done
    assert told(harness, done.report) == [
        ("creat", "m", ""),
        ("open", "n", "O_WRONLY|O_TRUNC"),
        ("renameat2", "n", "p", ""),
        ("unlink", "(unresolved)", ""),
    ]
