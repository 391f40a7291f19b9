"""The commands that README and docs show do what they show, in a copy of the repository; see `pages.py`.

The ports 8377 to 8379 are free ones. The tutorial is followed elsewhere, by a newcomer who has no copy: `newcomer`.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
from pathlib import Path

import pytest
from tests.e2e import pages
from tests.e2e.pages import Command
from tests.e2e.scenario import BIN, shell

from flowproof_runner.containment import tier
from flowproof_runner.containment.report import enforced

ROOT = Path(__file__).parents[2]
COPIED = ("README.md", "docs", "examples", "specs", "pyproject.toml")
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "examples").rglob("*.md")))
TUTORIAL = ROOT / "docs" / "tutorial.md"
PORTS = ("8377", "8378", "8379")
"""Of the pages' servers: pages are tried side by side."""
PROGRAMS = {
    "uv": f'#!/bin/sh\n[ "$1" = run ] || exit 64\nshift\nPATH={BIN}:$PATH exec "$@"\n',
    "pip": '#!/bin/sh\n[ "$*" = "install uv" ]\n',
    "flowproof": f'#!/bin/sh\nexec {BIN}/flowproof "$@"\n',
    "pytest": f'#!/bin/sh\nexec {BIN}/pytest "$@"\n',
}
"""What a page may call that a test cannot: these would ask the network for what is here already.

Only `uv run` leads into flowproof's own environment: a reader's `python3` knows nothing of it.
"""
REASONS = {
    "asks somebody who types",
    "needs a container engine",
    "needs the network, CI runs it",
    "stays open until Ctrl-C",
}
"""Why a block of commands may not be run, said over it: `<!-- not run: REASON -->`."""
_BLOCK = re.compile(
    r"^(?:<!-- (?P<mark>[^>]*) -->\n+)?```(?P<kind>\w*)[^\n]*\n(?P<block>.*?)^```", re.DOTALL | re.MULTILINE
)
_OURS = re.compile(r"^\$ |^flowproof [a-z]", re.MULTILINE)


def runnable() -> list[Path]:
    """Every page that has a command to run but the tutorial."""
    return [page for page in PAGES if page != TUTORIAL and pages.commands(page.read_text())]


@pytest.mark.parametrize("page", runnable(), ids=lambda page: str(page.relative_to(ROOT)))
def test_the_commands_of_a_page_run_as_shown(page: Path, tmp_path: Path) -> None:
    text = page.read_text()
    if "CERTIFY_EGRESS=1" in text and not enforced(tier.probe()):
        pytest.skip("shows what is certified, which nothing can be on this machine")
    steps = pages.steps(with_free_ports(text))
    env = shell(tmp_path / "home", FLOWPROOF_KEEP_RUNS="99")
    env["PATH"] = env["PATH"].replace(str(BIN), str(_programs(tmp_path / "bin")))
    pages.follow(steps, _copy(tmp_path / "repository"), env)


def _copy(folder: Path) -> Path:
    folder.mkdir()
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns(".flowproof", "__pycache__"))
        else:
            shutil.copy(source, folder / name)
    return folder


def _programs(folder: Path) -> Path:
    folder.mkdir()
    for name, script in PROGRAMS.items():
        (folder / name).write_text(script)
        (folder / name).chmod(0o755)
    return folder


def with_free_ports(text: str) -> str:
    """A page with ports at which nobody listens."""
    for port in PORTS:
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            text = text.replace(port, str(found.getsockname()[1]))
    return text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_is_run_or_says_why_not(page: Path) -> None:
    """What is shown for a terminal is `console`; there is no other way to show a command of ours."""
    for block in _BLOCK.finditer(page.read_text()):
        mark, text = block["mark"] or "", block["block"]
        if block["kind"] == "console":
            assert text.startswith("$ "), text
            assert mark.startswith("runs") or mark.removeprefix("not run: ") in REASONS, text
        else:
            assert mark.startswith("runs") or not _OURS.search(text), text


def test_a_page_that_shows_something_else_is_caught(tmp_path: Path) -> None:
    """The guilty fixture of this file."""
    text = "<!-- runs -->\n```console\n$ echo one; echo two\none\nthree\n$ false\n```\n"
    shows, fails = pages.commands(text)
    (tmp_path / "x").mkdir()
    printed = pages.run([shows, fails], tmp_path / "x", os.environ)
    with pytest.raises(AssertionError, match="did not print 'three'"):
        pages.assert_shown(shows, printed[0][0])
    assert (printed[0][1], printed[1][1]) == (0, 1)


def test_a_server_that_does_not_start_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    ((_, code),) = pages.run(
        pages.commands("<!-- runs: port 1 -->\n```console\n$ true &\n```\n"), tmp_path / "x", os.environ
    ).values()
    assert code == 1


def test_only_marked_blocks_are_run() -> None:
    assert pages.commands("```console\n$ rm -rf /\n```\n") == []
    marked = "<!-- runs: exit 1 -->\n\n```bash\n# a comment\ntrue\nfalse \\\n  --really\n```\n"
    assert pages.commands(marked) == [Command("true", (), 0), Command("false    --really", (), 1)]


def test_files_are_written_where_they_stand() -> None:
    text = "<!-- file: a/b -->\n```text\nx\n```\n<!-- runs -->\n```console\n$ cat a/b\nx\n```\n"
    assert pages.steps(text) == [pages.Written("a/b", "x\n"), Command("cat a/b", ("x",), 0)]
