"""Files are read, and nothing else is waited for."""

import os
from pathlib import Path

import pytest

from flowproof_addons.trace import plain


def test_a_file_is_read_also_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"text")
    (tmp_path / "link").symlink_to("file")
    assert plain.read(tmp_path / "file") == plain.read(tmp_path / "link") == b"text"


def test_a_pipe_that_nobody_writes_to_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="no file but a pipe or device"):
        plain.read(tmp_path / "pipe")


@pytest.mark.parametrize("name", ["nowhere", "."])
def test_what_is_not_there_and_a_folder_are_told_as_ever(name: str, tmp_path: Path) -> None:
    with pytest.raises((FileNotFoundError, IsADirectoryError)) as caught:
        plain.read(tmp_path / name)
    assert caught.value.strerror
