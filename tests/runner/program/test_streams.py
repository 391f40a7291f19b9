"""Standard streams that are closed, full or left by their reader; and a folder that is gone."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from io import FileIO
from pathlib import Path

import pytest

from flowproof_runner.program.streams import tell

BIN = Path(sys.executable).with_name("flowproof")
ROOT = Path(__file__).parents[3]
full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")


def flowproof(redirected: str, *words: str) -> subprocess.CompletedProcess[str]:
    script = f'exec "$0" "$@" {redirected}'
    return subprocess.run(["/bin/sh", "-c", script, BIN, *words], capture_output=True, text=True)


SPEC = """\
name: Grüße → 中
app: agent
agent: { command: agent }
steps: [ { prompt: hi }, { assert: reply contains hi } ]
"""


@pytest.mark.parametrize(
    ("alphabet", "said"),
    [
        ("utf-8", "ok     a.flow.yaml · Grüße → 中 · no cassette yet\n"),
        ("cp1252", "ok     a.flow.yaml · Grüße -> \\u4e2d · no cassette yet\n"),
        ("cp437", "ok     a.flow.yaml · Grüße -> \\u4e2d · no cassette yet\n"),
        ("ascii", "ok     a.flow.yaml - Gr\\xfc\\xdfe -> \\u4e2d - no cassette yet\n"),
    ],
)
def test_a_console_with_few_letters_is_told_in_those_it_has(alphabet: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "a.flow.yaml").write_text(SPEC, encoding="utf-8")
    env = {**os.environ, "PYTHONIOENCODING": alphabet}
    done = subprocess.run([BIN, "check", "."], cwd=tmp_path, env=env, capture_output=True)
    assert (done.returncode, done.stdout.decode(alphabet), done.stderr) == (0, said, b"")


@pytest.mark.parametrize(
    ("more", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)], ids=str
)
def test_a_terminal_gets_colours_unless_it_wants_none(more: dict[str, str], coloured: bool) -> None:
    words = [str(BIN), "show", "specs/booking.flow.yaml"]
    env = {**{k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}, "TERM": "xterm", **more}
    leader, terminal = os.openpty()
    with open(leader, "rb", buffering=0) as screen:
        shown = subprocess.Popen(words, cwd=ROOT, env=env, stdout=terminal, stderr=terminal)
        os.close(terminal)
        text = b"".join(_until_it_hangs_up(screen))
        assert shown.wait() == 0
    assert (b"\x1b[" in text) is coloured
    piped = subprocess.run(words, cwd=ROOT, env=env, capture_output=True, check=True)
    assert b"\x1b" not in piped.stdout


def _until_it_hangs_up(screen: FileIO) -> Iterator[bytes]:
    with contextlib.suppress(OSError):
        while piece := screen.read(65536):
            yield piece


@pytest.mark.parametrize("words", [["--help"], ["run", "--help"], ["contract", "test", "--help"]], ids=str)
def test_help_in_a_pipe_is_as_wide_as_a_plain_terminal(words: list[str]) -> None:
    env = {k: v for k, v in os.environ.items() if k != "COLUMNS"} | {"FORCE_COLOR": "1"}
    done = subprocess.run([BIN, *words], env=env, capture_output=True, text=True, check=True)
    assert "\x1b" not in done.stdout
    assert 60 < max(map(len, done.stdout.splitlines())) <= 80


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
