"""Whole or not at all, one writer at a time."""

import os
import threading
from pathlib import Path

import pytest

from flowproof_addons.trace import atomic


def test_the_file_is_its_owners_alone_while_it_is_written(tmp_path: Path) -> None:
    seen: list[int] = []

    class Spy(bytes):
        def __buffer__(self, flags: int) -> memoryview:
            seen.extend(file.stat().st_mode & 0o777 for file in tmp_path.iterdir())
            return memoryview(b"x")

    atomic.write(tmp_path / "a", Spy())
    assert seen and set(seen) == {0o600}


@pytest.mark.parametrize("name", ["x" * 251, "日" * 83])
def test_a_name_may_be_as_long_as_names_may_be(name: str, tmp_path: Path) -> None:
    atomic.write(tmp_path / name, b"whole")
    assert os.listdir(tmp_path) == [name]


def test_a_failure_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    with pytest.raises(TypeError):
        atomic.write(tmp_path / "a", "no bytes")  # type: ignore[arg-type]
    assert (tmp_path / "a").read_text() == "old"
    assert os.listdir(tmp_path) == ["a"]


def test_a_pipe_is_written_into_and_stays_one(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    atomic.write(tmp_path / "pipe", b"whole")
    assert os.read(reader, 10) == b"whole"
    os.close(reader)
    assert (tmp_path / "pipe").is_fifo()


def test_the_lock_admits_one_at_a_time_and_leaves_no_file(tmp_path: Path) -> None:
    inside: list[str] = []
    free = threading.Event()

    def second() -> None:
        with atomic.locked(tmp_path):
            inside.append("second")

    with atomic.locked(tmp_path):
        thread = threading.Thread(target=second)
        thread.start()
        inside.append("first")
        free.set()
    thread.join()
    assert inside == ["first", "second"]
    assert os.listdir(tmp_path) == []


def test_what_is_named_by_its_content_is_written_once(tmp_path: Path) -> None:
    atomic.write_once(tmp_path / "f" / "digest", b"abc")
    before = (tmp_path / "f" / "digest").stat().st_mtime_ns
    atomic.write_once(tmp_path / "f" / "digest", b"abc")
    assert (tmp_path / "f" / "digest").stat().st_mtime_ns == before
