"""The tail of an agent's output is bounded and safe to print."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowproof_runner.drivers.tail import clean, tail


@pytest.mark.parametrize(
    "text, expected",
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://x\x1b\\link", "link"),
        ("bell\x07 back\x08 nul\x00", "bell back nul"),
        ("10%\r20%\r\ndone", "10%\n20%\ndone"),
        ("csi \x9b31m", "csi 31m"),
        ("bidi \u202egnp.exe", "bidi gnp.exe"),
    ],
)
def test_nothing_a_terminal_would_obey_is_left(text: str, expected: str) -> None:
    assert clean(text) == expected


def test_only_the_last_lines_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "out"
    file.write_text("".join(f"line {i}\n" for i in range(1000)))
    assert tail(file, 2) == ("line 998", "line 999")


def test_a_huge_file_is_not_read_whole_and_a_cut_line_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "out"
    file.write_text("x" * 100_000 + "\nlast\n")
    assert tail(file) == ("last",)


def test_one_endless_line_is_cut(tmp_path: Path) -> None:
    file = tmp_path / "out"
    file.write_text("x" * 100_000)
    assert tail(file) == ("x" * 400,)


def test_bytes_that_are_no_text_are_shown_as_such(tmp_path: Path) -> None:
    file = tmp_path / "out"
    file.write_bytes(b"caf\xe9")
    assert tail(file) == ("caf\ufffd",)


def test_a_missing_file_has_no_lines(tmp_path: Path) -> None:
    assert tail(tmp_path / "none") == ()
