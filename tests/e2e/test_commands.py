"""The commands that README and docs show do what they show.

A block that follows `<!-- runs -->` is run; in `<!-- runs: exit 1 -->` its last command ends with that code. Lines
that begin with `$ ` are commands (in a `bash` block every line is), the others what they print: each must be found, in
this order, and an ellipsis stands for anything. A block that follows `<!-- file: PATH -->` is put there first. All
blocks of a page share a folder, a copy of ours, and a shell; the port 8377 is a free one.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.e2e.scenario import PATIENCE_S, shell

ROOT = Path(__file__).parents[2]
COPIED = ("README.md", "docs", "examples", "specs", "pyproject.toml")
MARKED = re.compile(r"<!-- runs(?:: exit (\d))? -->\n+```(console|bash)[^\n]*\n(.*?)```", re.DOTALL)
FILE = re.compile(r"<!-- file: (\S+) -->\n+```\w*\n(.*?)```", re.DOTALL)
PORT = "8377"
"""Of the pages' servers: pages are tried side by side."""
AT = "::flowproof-docs::"
PROGRAMS = {
    "uv": '#!/bin/sh\n[ "$1" = run ] || exit 64\nshift\nexec "$@"\n',
    "pip": '#!/bin/sh\n[ "$*" = "install uv" ]\n',
}
"""What a page may call that a test cannot: these would ask the network for what is here already."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command of a page and what is said of it."""

    words: str
    output: tuple[str, ...]
    code: int


def commands(text: str) -> list[Command]:
    """The marked commands of a page, in order."""
    return [command for code, kind, block in MARKED.findall(text) for command in _block(block, kind, int(code or 0))]


def _block(block: str, kind: str, code: int) -> list[Command]:
    lines = block.replace("\\\n", " ").splitlines()
    if kind == "bash":
        lines = [f"$ {line}" for line in lines if line.strip() and not line.startswith("#")]
    starts = [i for i, line in enumerate(lines) if line.startswith("$ ")]
    ends = [*starts[1:], len(lines)]
    shown = [
        tuple(line.strip() for line in lines[s + 1 : e] if line.strip()) for s, e in zip(starts, ends, strict=True)
    ]
    return [
        Command(lines[start][2:], output, code if start == starts[-1] else 0)
        for start, output in zip(starts, shown, strict=True)
    ]


def pages() -> list[Path]:
    """Every page that has a marked block."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "examples").rglob("*.md"))]
    return [page for page in found if page.exists() and commands(page.read_text())]


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_the_commands_of_a_page_run_as_shown(page: Path, tmp_path: Path) -> None:
    text = page.read_text().replace(PORT, str(free_port()))
    wanted = commands(text)
    printed = _run(wanted, _copy(tmp_path, text))
    for number, command in enumerate(wanted):
        output, code = printed.get(number, ("it did not end", -1))
        assert code == command.code, f"$ {command.words}\nended with {code}\n{output}"
        _assert_shown(command, output)


def _copy(tmp_path: Path, text: str) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns(".flowproof", "__pycache__"))
        elif source.exists():
            shutil.copy(source, folder / name)
    (tmp_path / "bin").mkdir()
    for name, script in PROGRAMS.items():
        (tmp_path / "bin" / name).write_text(script)
        (tmp_path / "bin" / name).chmod(0o755)
    for name, content in FILE.findall(text):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    return folder


def _run(wanted: list[Command], folder: Path) -> dict[int, tuple[str, int]]:
    """Output and exit code of each command, run one after the other in one shell."""
    env = shell(folder.parent / "home")
    env["PATH"] = f"{folder.parent / 'bin'}{os.pathsep}{env['PATH']}"
    log = folder.parent / "log.txt"
    with log.open("w") as output:
        process = subprocess.Popen(
            ["bash", "-c", _script(wanted)], cwd=folder, env=env, stdout=output, stderr=output, start_new_session=True
        )
        try:
            process.wait(PATIENCE_S)
        finally:
            _end(process)
    found = re.findall(rf"^{AT} (\d+)\n(.*?)^{AT} \1 (\d+)$", log.read_text(), re.DOTALL | re.MULTILINE)
    return {int(number): (text, int(code)) for number, text, code in found}


def _script(wanted: list[Command]) -> str:
    frame = "echo\necho '{at} {i}'\n{words}\ncode=$?\necho\necho \"{at} {i} $code\"\n"
    return "".join(frame.format(at=AT, i=i, words=_waiting(command.words)) for i, command in enumerate(wanted))


def _waiting(words: str) -> str:
    """A server in the background is there before the next command, as it is for a person who types."""
    port = re.search(r"--port (\d+).*&$", words)
    return f"{words}\nuntil (: < /dev/tcp/127.0.0.1/{port[1]}) 2>/dev/null; do sleep 0.05; done" if port else words


def _end(process: subprocess.Popen[bytes]) -> None:
    """Also what the page put in the background."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def _assert_shown(command: Command, output: str) -> None:
    rest = output.splitlines()
    for line in command.output:
        pattern = ".*".join(re.escape(part) for part in re.split(r"…|\.\.\.", line))
        while rest and not re.fullmatch(pattern, rest[0].strip()):
            rest.pop(0)
        assert rest, f"$ {command.words}\ndid not print {line!r} (in its place)\n{output}"
        rest.pop(0)


def free_port() -> int:
    """A port nobody listens at."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def test_every_command_of_the_first_pages_is_run() -> None:
    for page in (ROOT / "README.md", ROOT / "docs" / "tutorial.md"):
        text = page.read_text()
        shown = re.findall(r"^\$ ", text, re.MULTILINE)
        assert len(commands(text)) == len(shown) > 5


def test_a_page_that_shows_something_else_is_caught(tmp_path: Path) -> None:
    """The guilty fixture of this file."""
    text = "<!-- runs -->\n```console\n$ echo one; echo two\none\nthree\n$ false\n```\n"
    shows, fails = commands(text)
    (tmp_path / "x").mkdir()
    printed = _run([shows, fails], tmp_path / "x")
    with pytest.raises(AssertionError, match="did not print 'three'"):
        _assert_shown(shows, printed[0][0])
    assert (printed[0][1], printed[1][1]) == (0, 1)


def test_only_marked_blocks_are_run() -> None:
    assert commands("```console\n$ rm -rf /\n```\n") == []
    marked = "<!-- runs: exit 1 -->\n\n```bash\n# a comment\ntrue\nfalse \\\n  --really\n```\n"
    assert commands(marked) == [Command("true", (), 0), Command("false    --really", (), 1)]
