"""`agent.output: file PATH` is what this run wrote; what an earlier run left proves nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from flowproof_runner.flow.left_file import LeftFile
from flowproof_runner.spec.agent import Output

OUT = Output("file", "out.json")


def awaited(folder: Path) -> LeftFile:
    found = LeftFile.awaited(OUT, folder)
    assert found is not None
    return found


@pytest.mark.parametrize("before", [None, "the same"])
def test_what_was_written_is_read_also_over_what_was_there(tmp_path: Path, before: str | None) -> None:
    file = tmp_path / "out.json"
    if before is not None:
        file.write_text(before)
    left = awaited(tmp_path)
    new = tmp_path / "new"
    new.write_text("the same")
    new.replace(file)
    assert left.text() == "the same"


def test_a_file_of_an_earlier_run_is_not_taken_for_this_ones(tmp_path: Path) -> None:
    (tmp_path / "out.json").write_text("{}")
    left = awaited(tmp_path)
    assert left.text() is None
    assert left.why_not() == "agent.output: file 'out.json' is of an earlier run; this one did not write it"


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    left = awaited(tmp_path)
    assert (left.text(), left.why_not()) == (None, "agent.output: the agent wrote no file 'out.json'")
    os.mkfifo(tmp_path / "out.json")
    assert (left.text(), left.why_not()) == (None, "agent.output: file 'out.json' cannot be read")


@pytest.mark.parametrize("output", [None, Output("reply"), Output("body")])
def test_nothing_is_awaited_where_the_output_is_no_file(output: Output | None, tmp_path: Path) -> None:
    assert LeftFile.awaited(output, tmp_path) is None
