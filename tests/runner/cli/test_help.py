"""What `--help` says, and what a shell completes."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import pytest
import typer
from typer.core import TyperCommand, TyperGroup

from flowproof_runner import entry
from flowproof_runner.cli import app


def leaves(group: TyperGroup, *path: str) -> Iterator[tuple[str, TyperCommand]]:
    context = group.context_class(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, TyperGroup):
            yield from leaves(command, *path, name)
        else:
            assert isinstance(command, TyperCommand)
            yield " ".join((*path, name)), command


ROOT = typer.main.get_command(app)
assert isinstance(ROOT, TyperGroup)
COMMANDS = dict(leaves(ROOT))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_shows_how_it_is_called_in_words_it_understands(name: str) -> None:
    command = COMMANDS[name]
    lines = [line.strip() for line in (command.help or "").replace("\b", "").splitlines()]
    examples = [line for line in lines if line.startswith(("flowproof ", "mitmdump "))]
    assert examples
    for example in examples:
        words = shlex.split(re.split(r" {3,}| > ", example)[0])
        if words[0] == "flowproof":
            given = words[1 + len(name.split()) :]
            assert " ".join(words[1 : 1 + len(name.split())]) == name
            command.make_context(name, given)  # raises at an option or argument that is not there


@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_an_80_column_pipe_and_has_no_colour_in_it(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert entry.run([*name.split(), "--help"]) == 0
    said = capsys.readouterr().out
    assert "\x1b" not in said
    assert max(map(len, said.splitlines())) <= 100  # an example is never broken


@pytest.mark.parametrize(
    ("shell", "words", "at", "offered"),
    [
        ("bash", "flowproof re", "1", "record"),
        ("bash", "flowproof run --j", "2", "--junit"),
        ("zsh", "flowproof contract te", "", '"test"'),
        ("fish", "flowproof mcp sn", "", "snapshot"),
    ],
)
def test_shells_complete_commands_and_options(
    shell: str, words: str, at: str, offered: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "_FLOWPROOF_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": words,
        "COMP_CWORD": at,
        "_TYPER_COMPLETE_ARGS": words,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }.items():
        monkeypatch.setenv(name, value)
    assert entry.run([]) == 0
    assert offered in capsys.readouterr().out
