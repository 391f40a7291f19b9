"""What is shown while flows run: plain lines in the order of the plan, on a terminal with a live foot below them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, TextIO

from flowproof_runner.invocation.invocation import Job
from flowproof_runner.program import streams
from flowproof_runner.report import console
from flowproof_runner.report.style import Style
from flowproof_runner.result import FlowResult

if TYPE_CHECKING:
    from rich.console import ConsoleOptions, RenderResult

_SHOWN = 8


class Lines:
    """Prints each result once all before it are printed, so that parallel flows never mix."""

    def __init__(self, write: Callable[[str], None], style: Style) -> None:
        self._write = write
        self._style = style
        self._lock = Lock()
        self._waiting: dict[int, FlowResult] = {}
        self._next = 0

    def started(self, job: Job) -> None:
        """Nothing to say yet."""

    def finished(self, job: Job, result: FlowResult) -> None:
        """Print what can be printed now; what was skipped is told at the end, once for each reason."""
        with self._lock:
            self._waiting[job.index] = result
            while (ready := self._waiting.pop(self._next, None)) is not None:
                if ready.verdict != "skip":
                    self._write(console.line(ready, self._style))
                self._next += 1


class Foot:
    """What runs now and how far the whole is; redrawn by rich."""

    def __init__(self, total: int, lines: Lines, style: Style) -> None:
        self._total = total
        self._lines = lines
        self._style = style
        self._lock = Lock()
        self._running: dict[Job, float] = {}
        self._done = 0
        self._bad = 0

    def started(self, job: Job) -> None:
        """The flow appears."""
        with self._lock:
            self._running[job] = time.monotonic()

    def finished(self, job: Job, result: FlowResult) -> None:
        """The flow becomes a line."""
        with self._lock:
            self._running.pop(job, None)
            self._done += 1
            self._bad += result.verdict in ("fail", "error")
        self._lines.finished(job, result)

    def __rich_console__(self, console: object, options: ConsoleOptions) -> RenderResult:
        """Draw; rich cuts what is wider than the terminal."""
        from rich.text import Text

        for line in self.text():
            text = Text.from_ansi(line)
            text.truncate(options.max_width, overflow="ellipsis")
            yield text

    def text(self) -> Iterator[str]:
        """The lines now."""
        now = time.monotonic()
        with self._lock:
            running, done, bad = dict(self._running), self._done, self._bad
        for job, since in list(running.items())[:_SHOWN]:
            yield self._style(f"{'···':5}  {now - since:5.1f} s", "cyan") + f"                 {job.spec} · {job.name}"
        hidden = f", {len(running) - _SHOWN} more running" if len(running) > _SHOWN else ""
        yield self._style(f"{done} of {self._total} done{f', {bad} failed' if bad else ''}{hidden}", "dim")


@contextmanager
def shown(stream: TextIO, style: Style, total: int) -> Iterator[Lines | Foot]:
    """A watcher that writes to `stream`."""
    if not stream.isatty():

        def write(line: str) -> None:
            streams.tell(f"{line}\n", stream)

        yield Lines(write, style)
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    console = Console(file=stream, highlight=False, no_color=not style.colour)
    lines = Lines(lambda line: console.print(Text.from_ansi(line), soft_wrap=True), style)
    foot = Foot(total, lines, style)
    with Live(foot, console=console, refresh_per_second=10, transient=True):
        yield foot
