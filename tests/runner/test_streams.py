"""Standard streams that are closed, full or left by their reader; and a folder that is gone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from flowproof_runner.streams import tell

BIN = Path(sys.executable).with_name("flowproof")
full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")


def flowproof(redirected: str, *words: str) -> subprocess.CompletedProcess[str]:
    script = f'exec "$0" "$@" {redirected}'
    return subprocess.run(["/bin/sh", "-c", script, BIN, *words], capture_output=True, text=True)


def test_text_is_printed_at_once() -> None:
    reader, writer = os.pipe()
    with open(reader) as read, open(writer, "w") as stream:
        assert tell("one\n", stream)
        assert read.readline() == "one\n"


def test_a_reader_that_has_gone_costs_nothing() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w") as stream:
        assert tell("one\n", stream)
        assert tell("two\n", stream)


@full
def test_a_full_disk_is_told_once_where_that_is_possible(capsys: pytest.CaptureFixture[str]) -> None:
    with open("/dev/full", "w") as stream:
        assert not tell("one\n", stream)
        assert tell("two\n", stream)
    assert "stdout cannot be written: No space left on device" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--version"], ["schema"], ["--help"]])
def test_a_closed_stdout_changes_no_exit_code(words: list[str]) -> None:
    done = flowproof(">&-", *words)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@full
@pytest.mark.parametrize("words", [["--version"], ["schema"], ["--help"]])
def test_what_could_not_be_printed_is_no_success_and_no_bug(words: list[str]) -> None:
    done = flowproof(">/dev/full", *words)
    assert done.returncode == 2
    assert "cannot be written: No space left on device" in done.stderr
    assert "bug" not in done.stderr
    assert flowproof(">/dev/full 2>/dev/full", *words).returncode == 2


def test_all_streams_may_be_closed() -> None:
    assert flowproof("<&- >&- 2>&-", "run", "nowhere.flow.yaml").returncode == 2


@pytest.mark.parametrize("words", [["run", "x"], ["record", "x"], ["check", "x"], ["show", "latest"]])
def test_a_folder_that_is_gone_is_said(words: list[str], tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = f'rmdir "{gone}" && exec "$0" "$@"'
    done = subprocess.run(["/bin/sh", "-c", script, BIN, *words], cwd=gone, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "flowproof: the folder it was started in is gone: change into one that is there\n"
