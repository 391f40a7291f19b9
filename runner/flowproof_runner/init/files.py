"""What `flowproof init` writes. Nothing that is there is overwritten: files are made, lines are added."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from flowproof_addons import FlowproofError
from flowproof_runner.init import agent

SPEC = Path("flows/first.flow.yaml")
WORKFLOW = Path(".github/workflows/flowproof.yml")

_LINES = {
    Path(".gitattributes"): "*.trace.json text eol=lf",
    Path(".gitignore"): ".flowproof/",
}


class InitError(FlowproofError):
    """The folder cannot be written."""


@dataclass(frozen=True, slots=True)
class Step:
    """What became of one file."""

    path: Path
    done: str
    """`wrote`, `added a line to` or `kept`."""


def init(folder: Path, command: str | None = None) -> tuple[Step, ...]:
    """Write what is missing. `command` starts the agent; None: what the project's files tell.

    Raises InitError if something cannot be written.
    """
    try:
        return tuple(_steps(folder, command or agent.found(folder) or agent.EXAMPLE))
    except OSError as error:
        raise InitError(
            f"{str(error.filename or folder)!r} cannot be written: {error.strerror or error}; mend its rights, or"
            " give another folder"
        ) from error


def _steps(folder: Path, command: str) -> Iterator[Step]:
    yield _made(folder, SPEC, _SPEC.replace("COMMAND", json.dumps(command, ensure_ascii=False)))
    yield _made(folder, WORKFLOW, _WORKFLOW)
    for path, line in _LINES.items():
        yield _line(folder, path, line)


def _made(folder: Path, path: Path, text: str) -> Step:
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        with file.open("x", encoding="utf-8", newline="\n") as new:
            new.write(text)
    except FileExistsError:
        return Step(path, "kept")
    return Step(path, "wrote")


def _line(folder: Path, path: Path, line: str) -> Step:
    """Add a line unless its pattern is spoken of already: then the project has decided."""
    file = folder / path
    if not file.exists():
        return _made(folder, path, f"{line}\n")
    before = file.read_bytes()
    pattern = line.split()[0].rstrip("/").encode()
    if any(each.split()[:1] in ([pattern], [pattern + b"/"]) for each in before.splitlines()):
        return Step(path, "kept")
    with file.open("ab") as more:
        more.write((b"" if before.endswith(b"\n") or not before else b"\n") + line.encode() + b"\n")
    return Step(path, "added a line to")


_SPEC = """\
name: The agent answers
app: agent
agent:
  command: COMMAND
  timeout: 60s
steps:
  - prompt: Say hello
  - assert: reply matches .
"""

_WORKFLOW = """\
name: flowproof
on: [push, pull_request]
permissions:
  contents: read
jobs:
  replay:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      # Install your agent here, in an environment of its own.
      - run: pipx install flowproof-mitmproxy
      # Replays need no key and no network.
      - run: flowproof run flows --junit flowproof.xml
      - uses: actions/upload-artifact@v4
        if: always()
        with:
          name: flowproof
          path: |
            flowproof.xml
            .flowproof/runs
          include-hidden-files: true
"""
