"""Pages of the documentation as a reader follows them: files are written and commands run in the order they stand.

Over a block of commands stands `<!-- runs -->`, `<!-- runs: exit 1 -->` where the last one is to fail, or
`<!-- runs: port N -->` where one stays in the background that listens there; over a file to write
`<!-- file: NAME -->`. A command is `$ ` and its words; the lines under it are what it prints, where `…` stands for
anything and lines may be left out.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.scenario import PATIENCE_S

_MARKED = re.compile(
    r"<!-- (?:runs(?:: exit (?P<code>\d)|: port (?P<port>\d+))?|file: (?P<file>\S+)) -->\n+"
    r"```(?P<kind>\w+)[^\n]*\n(?P<block>.*?)```",
    re.DOTALL,
)
_AT = "::flowproof-docs::"


@dataclass(frozen=True, slots=True)
class Written:
    """A file the reader writes."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Command:
    """One command and what is said of it."""

    words: str
    output: tuple[str, ...]
    code: int
    port: str = ""
    """It stays in the background, and is there when it listens here."""


type Step = Written | Command


def steps(text: str) -> list[Step]:
    """What a reader of the page does, in order."""
    return [step for found in _MARKED.finditer(text) for step in _steps(found)]


def commands(text: str) -> list[Command]:
    """The commands alone."""
    return [step for step in steps(text) if isinstance(step, Command)]


def _steps(found: re.Match[str]) -> Iterator[Step]:
    if found["file"]:
        yield Written(found["file"], found["block"])
        return
    lines = found["block"].replace("\\\n", " ").splitlines()
    if found["kind"] == "bash":
        lines = [f"$ {line}" for line in lines if line.strip() and not line.startswith("#")]
    starts = [i for i, line in enumerate(lines) if line.startswith("$ ")]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        shown = tuple(line.strip() for line in lines[start + 1 : end] if line.strip())
        words = lines[start][2:]
        yield Command(words, shown, int(found["code"] or 0) if start == starts[-1] else 0, _port(words, found["port"]))


def _port(words: str, marked: str | None) -> str:
    """Where a server that is left in the background listens: as its words end, else as the mark has it."""
    said = re.search(r"\b(\d{4,5}) &$", words)
    return said[1] if said else (marked or "") if words.endswith("&") else ""


def follow(page: Sequence[Step], folder: Path, environment: Mapping[str, str], before: Sequence[str] = ()) -> None:
    """Do what the page says in one shell in a folder; what is shown must come true.

    `before`: words in front of the shell's own command, to have it run as somebody else.
    """
    printed = run(page, folder, environment, before)
    for number, step in enumerate(page):
        if isinstance(step, Command):
            output, code = printed.get(number, ("it did not end", -1))
            assert code == step.code, f"$ {step.words}\nended with {code}\n{output}"
            assert_shown(step, output)


def run(
    page: Sequence[Step], folder: Path, environment: Mapping[str, str], before: Sequence[str] = ()
) -> dict[int, tuple[str, int]]:
    """Output and exit code of each command, by its place on the page."""
    log = folder.with_name(f"{folder.name}.log")
    with log.open("w") as output:
        process = subprocess.Popen(
            [*before, "bash", "-c", "\n".join(_script(page))],
            cwd=folder,
            env=dict(environment),
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        try:
            process.wait(PATIENCE_S)
        finally:
            _end(process)
    found = re.findall(rf"^{_AT} (\d+)\n(.*?)^{_AT} \1 (\d+)$", log.read_text(), re.DOTALL | re.MULTILINE)
    return {int(number): (text, int(code)) for number, text, code in found}


def _script(page: Sequence[Step]) -> Iterator[str]:
    for number, step in enumerate(page):
        if isinstance(step, Written):
            yield f"mkdir -p {shlex.quote(str(Path(step.path).parent))}"
            yield f"printf %s {shlex.quote(step.text)} > {shlex.quote(step.path)}"
        else:
            yield f"echo\necho '{_AT} {number}'\n{_waiting(step)}\ncode=$?"
            yield f'echo\necho "{_AT} {number} $code"'


def _waiting(command: Command) -> str:
    """A server in the background is there before the next command, as it is for a person who types."""
    if not command.port:
        return command.words
    there = f"(: < /dev/tcp/127.0.0.1/{command.port}) 2>/dev/null"
    return f"{command.words}\nuntil {there}; do kill -0 $! || break; sleep 0.05; done\n{there}"


def _end(process: subprocess.Popen[bytes]) -> None:
    """Also what the page put in the background."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def assert_shown(command: Command, output: str) -> None:
    """Every line that is shown was printed, in this order."""
    rest = output.splitlines()
    for line in command.output:
        pattern = ".*".join(re.escape(part.strip()) for part in re.split(r"…|\.\.\.", line))  # columns move with widths
        while rest and not re.fullmatch(pattern, rest[0].strip()):
            rest.pop(0)
        assert rest, f"$ {command.words}\ndid not print {line!r} (in its place)\n{output}"
        rest.pop(0)
