"""Files of the user's are whole or as they were, and a failure says so."""

import os
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from flowproof_runner.program.writing import WriteError, write


@pytest.fixture
def full_disk() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_the_folder_is_made_and_characters_that_are_none_are_told(tmp_path: Path) -> None:
    write(tmp_path / "a" / "b.yaml", "name: é\ud800\n")
    assert (tmp_path / "a" / "b.yaml").read_bytes() == b"name: \xc3\xa9\\ud800\n"


@pytest.mark.usefixtures("full_disk")
def test_a_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "spec").write_text("old")
    with pytest.raises(WriteError, match="spec: cannot be written: File too large; nothing was changed"):
        write(tmp_path / "spec", "new and longer")
    assert (tmp_path / "spec").read_text() == "old"
    assert os.listdir(tmp_path) == ["spec"]


def test_a_file_where_a_folder_should_be_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(WriteError, match=r"file/report\.xml: cannot be written"):
        write(tmp_path / "file" / "report.xml", "text")
