"""Where reports go: the terminal, the run folder, the files asked for, GitHub."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from flowproof_addons import FlowproofError
from flowproof_addons.dialects.registry import default
from flowproof_runner.findings import Exit
from flowproof_runner.program import streams, writing
from flowproof_runner.records.story import story
from flowproof_runner.report import console, github, json, junit, style
from flowproof_runner.report.style import Style
from flowproof_runner.result import RunResult


class ReportError(FlowproofError):
    """A report cannot be written."""


@dataclass(frozen=True, slots=True)
class Outlet:
    """What the user asked to see, and where."""

    shell: Mapping[str, str] = field(repr=False)
    as_json: bool = False
    """JSON on stdout; what people read goes to stderr."""
    junit: Path | None = None
    html: Path | None = None

    @property
    def stream(self) -> TextIO:
        """Where people read."""
        return sys.stderr if self.as_json else sys.stdout

    @property
    def style(self) -> Style:
        """How it is dressed there."""
        return Style(style.wanted(self.shell, self.stream.isatty()))

    def publish(self, run: RunResult, folder: Path) -> None:
        """Write every report. Raises ReportError if a file cannot be written, after the terminal was served."""
        streams.tell(console.summary(run, self.style), self.stream)
        if self.shell.get("GITHUB_ACTIONS") == "true":
            streams.tell(github.commands(run, self._prefix()), self.stream)
        for path, text in self._files(run, folder):
            _write(path, text)
        if self.shell.get("GITHUB_STEP_SUMMARY"):
            _append(Path(self.shell["GITHUB_STEP_SUMMARY"]), github.step_summary(run))
        if self.as_json:
            _print(json.render(run).encode())

    def _files(self, run: RunResult, folder: Path) -> Iterator[tuple[Path, str]]:
        """What programs read first: nothing that goes wrong with the page may cost them theirs."""
        xml = junit.render(run)
        yield folder / "report.json", json.render(run)
        yield from ((path, xml) for path in (folder / "junit.xml", self.junit) if path is not None)
        from flowproof_runner.report import html  # the agents have run: nobody waits for this import

        page = html.render(run, [story(flow, Path.cwd(), default()) for flow in run.flows])
        yield from ((path, page) for path in (folder / "report.html", self.html) if path is not None)

    def _prefix(self) -> str:
        """The working directory as seen from the checkout."""
        root = self.shell.get("GITHUB_WORKSPACE", "")
        return os.path.relpath(Path.cwd(), root) if root else ""


def failure(error: FlowproofError) -> str:
    """What `--json` prints where no flow could be tried."""
    return json.failure(str(error), int(Exit.UNUSABLE))


def _print(data: bytes) -> None:
    """JSON is UTF-8 whatever the terminal speaks."""
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
    except OSError as error:
        streams.nowhere(sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise ReportError(f"the report cannot be written to stdout: {error.strerror}") from error


def _write(path: Path, text: str) -> None:
    try:
        writing.write(path, text)
    except writing.WriteError as error:
        raise ReportError(f"report {error}") from error


def _append(path: Path, text: str) -> None:
    try:
        with path.open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError as error:
        raise ReportError(f"report {str(path)!r} cannot be written: {error.strerror or error}") from error
