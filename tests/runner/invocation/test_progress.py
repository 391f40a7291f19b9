"""Progress never mixes flows, and is live only on a terminal."""

from __future__ import annotations

import io
from pathlib import Path

from flowproof_runner.invocation.invocation import Job
from flowproof_runner.invocation.progress import Foot, Lines, shown
from flowproof_runner.report.style import Style
from flowproof_runner.result import FlowResult

PLAIN = Style()
JOBS = [Job(i, Path(f"{i}.flow.yaml"), f"flow {i}") for i in range(3)]


def done(job: Job) -> FlowResult:
    return FlowResult(name=job.name, spec=str(job.spec), phase="replay", verdict="fail", exit_code=1)


def test_results_are_printed_in_the_order_of_the_plan_as_soon_as_they_can_be() -> None:
    lines: list[str] = []
    watcher = Lines(lines.append, PLAIN)
    watcher.finished(JOBS[2], done(JOBS[2]))
    assert lines == []
    watcher.finished(JOBS[0], done(JOBS[0]))
    assert [line.split()[-1] for line in lines] == ["0"]
    watcher.finished(JOBS[1], done(JOBS[1]))
    assert [line.split()[-1] for line in lines] == ["0", "1", "2"]


def test_the_foot_names_what_runs_and_counts_the_rest() -> None:
    foot = Foot(3, Lines(lambda line: None, PLAIN), PLAIN)
    foot.started(JOBS[0])
    foot.started(JOBS[1])
    foot.finished(JOBS[0], done(JOBS[0]))
    running, counts = foot.text()
    assert running.endswith("1.flow.yaml · flow 1")
    assert counts == "1 of 3 done, 1 failed"


def test_a_pipe_gets_plain_lines_only() -> None:
    stream = io.StringIO()
    with shown(stream, PLAIN, 1) as watcher:
        watcher.started(JOBS[0])
        watcher.finished(JOBS[0], done(JOBS[0]))
    assert stream.getvalue() == "FAIL     0.0 s        0 turns  0.flow.yaml · flow 0\n"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_the_same_lines_above_a_foot() -> None:
    stream = Terminal()
    with shown(stream, PLAIN, 1) as watcher:
        watcher.started(JOBS[0])
        watcher.finished(JOBS[0], done(JOBS[0]))
    assert "FAIL     0.0 s        0 turns  0.flow.yaml · flow 0\n" in stream.getvalue()
    assert "1 of 1 done" in stream.getvalue()
