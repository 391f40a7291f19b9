"""Every flowproof command in README.md and docs/ is one that flowproof has."""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from typer.core import TyperCommand, TyperGroup

from flowproof_runner.cli import app

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
_FENCED = re.compile(r"^```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_CALLED = re.compile(r"(?:- run: )?(?:\$ )?(?:[A-Z_]+=\S+ )*(?:uv run )?(flowproof (?![:…]).+)")
_INLINE = re.compile(r"`(flowproof (?!COMMAND)[^`]+)`")


def commands() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        text = page.read_text()
        for block in _FENCED.findall(text):
            for line in block.replace("\\\n", " ").splitlines():
                called = _CALLED.match(line.strip())
                if called:
                    yield page.name, called[1]
        for command in _INLINE.findall(_FENCED.sub("", text)):
            yield page.name, " ".join(command.split())


def _found(words: list[str]) -> tuple[TyperCommand | TyperGroup, list[str]]:
    command = typer.main.get_command(app)
    assert isinstance(command, TyperGroup)
    while isinstance(command, TyperGroup) and words and not words[0].startswith("-"):
        inner = command.get_command(command.context_class(command), words[0])
        assert isinstance(inner, TyperCommand | TyperGroup), f"no command {words[0]!r}"
        command, words = inner, words[1:]
    return command, words


@pytest.mark.parametrize(("page", "command"), sorted(set(commands())))
def test_the_command_exists_and_has_these_options(page: str, command: str) -> None:
    words = list(
        itertools.takewhile(
            lambda word: word not in {"|", ">", "&", "&&", ";"}, shlex.shlex(command, punctuation_chars=True)
        )
    )
    found, given = _found(words[1:])
    known = {name for option in found.params for name in option.opts}
    known |= {"--help", "-h", "--install-completion", "--show-completion"}
    given = given[: given.index("--")] if "--" in given else given
    assert {word.partition("=")[0] for word in given if word.startswith("-") and len(word) > 1} <= known


def test_the_command_line_page_has_every_command() -> None:
    root = typer.main.get_command(app)
    assert isinstance(root, TyperGroup)
    rows = re.findall(r"^\| `([a-z-]+)", (ROOT / "docs" / "cli.md").read_text(), re.MULTILINE)
    assert set(root.list_commands(root.context_class(root))) <= set(rows)


def test_there_are_commands_to_check() -> None:
    assert {page for page, _ in commands()} >= {"README.md", "cli.md", "tutorial.md", "healing.md"}


def test_every_command_is_in_the_table_of_the_command_line() -> None:
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    page = (ROOT / "docs" / "cli.md").read_text()
    listed = set(re.findall(r"^\| `([a-z-]+)", page, re.MULTILINE))
    shown = {name for name, command in group.commands.items() if not command.hidden}
    assert shown - listed == set()
