"""NAME=VALUE files."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowproof_runner.suite.env_file import EnvFileError, read


@pytest.mark.parametrize(
    "line, value",
    [
        ("A=b", "b"),
        ("  export A = b  ", "b"),
        ("A=", ""),
        ("A=b c", "b c"),
        ("A=b # comment", "b"),
        ("A=b#c", "b#c"),
        ("A='$X # \"b\"'", '$X # "b"'),
        (r'A="a\n\"b\" $X"', 'a\n"b" $X'),
        ("A=x=y", "x=y"),
        ("A=1\nA=2", "2"),
        ("# A=1\n\nA=3\r\n", "3"),
        ("\ufeffA=4", "4"),
    ],
)
def test_a_line_gives_a_variable(tmp_path: Path, line: str, value: str) -> None:
    (tmp_path / "env").write_text(line, encoding="utf-8", newline="")
    assert read(tmp_path / "env") == {"A": value}


@pytest.mark.parametrize("line", ["hunter2", "1A=hunter2", "A='hunter2", 'A="hunter2', "A-B=hunter2"])
def test_another_line_is_an_error_that_does_not_quote_it(tmp_path: Path, line: str) -> None:
    (tmp_path / "env").write_text(f"OK=1\n{line}\n")
    with pytest.raises(EnvFileError, match=r"env:2: is no NAME=VALUE line") as caught:
        read(tmp_path / "env")
    assert "hunter2" not in str(caught.value)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(EnvFileError, match="cannot be read: No such file"):
        read(tmp_path / "gone")
