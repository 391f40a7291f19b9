"""Flows run side by side, results stay in order, and every flow comes to an end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Barrier, Event, Lock

import pytest

from flowproof_runner.findings import Verdict
from flowproof_runner.invocation.invocation import Invocation, Job
from flowproof_runner.invocation.jobs import JobsError, parallel
from flowproof_runner.result import FlowResult

CODES = {"pass": 0, "skip": 0, "fail": 1, "error": 2}


def result(job: Job, verdict: Verdict = "pass", reason: str = "") -> FlowResult:
    return FlowResult(
        name=job.name, spec=str(job.spec), phase="replay", verdict=verdict, exit_code=CODES[verdict], reason=reason
    )


def plan(count: int, ports: frozenset[int] = frozenset()) -> list[Job]:
    return [Job(i, Path(f"{i}.flow.yaml"), f"flow {i}", ports) for i in range(count)]


@dataclass
class Log:
    """A watcher that remembers."""

    events: list[tuple[str, int]] = field(default_factory=list)

    def started(self, job: Job) -> None:
        self.events.append(("started", job.index))

    def finished(self, job: Job, result: FlowResult) -> None:
        self.events.append(("finished", job.index))


def invocation(run: Callable[[Job], FlowResult], **options: object) -> Invocation:
    return Invocation(run, lambda job, reason: result(job, "skip", reason), Log(), **options)  # type: ignore[arg-type]  # **options


def test_flows_run_at_the_same_time_and_results_keep_the_order_of_the_plan() -> None:
    together = Barrier(3)

    def run(job: Job) -> FlowResult:
        together.wait(60)  # passes only when three run at once
        return result(job)

    assert [r.name for r in invocation(run, jobs=3).execute(plan(3))] == ["flow 0", "flow 1", "flow 2"]


def test_one_job_runs_flows_one_after_the_other() -> None:
    log = Log()
    Invocation(result, lambda job, reason: result(job), log).execute(plan(2))
    assert log.events == [("started", 0), ("finished", 0), ("started", 1), ("finished", 1)]


def test_flows_that_share_a_port_wait_for_each_other() -> None:
    busy = Lock()

    def run(job: Job) -> FlowResult:
        assert busy.acquire(blocking=False)
        busy.release()
        return result(job)

    assert len(invocation(run, jobs=4).execute(plan(8, frozenset({8080, 8081})))) == 8


def test_fail_fast_skips_what_has_not_begun() -> None:
    def run(job: Job) -> FlowResult:
        return result(job, "fail" if job.index == 1 else "pass")

    results = invocation(run, fail_fast=True).execute(plan(4))
    assert [r.verdict for r in results] == ["pass", "fail", "skip", "skip"]
    assert results[3].reason == "not run: an earlier flow failed (--fail-fast)"


def test_without_fail_fast_every_flow_runs() -> None:
    results = invocation(lambda job: result(job, "error")).execute(plan(3))
    assert [r.verdict for r in results] == ["error", "error", "error"]


def test_an_interruption_cancels_what_runs_waits_for_it_and_flies_on() -> None:
    ended = Event()

    class Interrupting(Log):
        def started(self, job: Job) -> None:
            if job.index == 1:
                raise KeyboardInterrupt  # reaches the waiting thread through the future

    def run(job: Job) -> FlowResult:
        assert started.cancelled.wait(60)
        ended.set()
        return result(job)

    started = Invocation(run, lambda job, reason: result(job), Interrupting(), jobs=2)
    with pytest.raises(KeyboardInterrupt):
        started.execute(plan(3))
    assert ended.is_set()


def test_after_an_interruption_the_results_so_far_are_there() -> None:
    class Interrupting(Log):
        def started(self, job: Job) -> None:
            if job.index == 1:
                raise KeyboardInterrupt

    started = Invocation(result, lambda job, reason: result(job, "skip", reason), Interrupting())
    with pytest.raises(KeyboardInterrupt):
        started.execute(plan(2))
    told = [(r.verdict, r.reason) for r in started.so_far(plan(2))]
    assert told == [("pass", ""), ("skip", "not run: interrupted")]


def test_a_bug_in_one_flow_is_not_swallowed() -> None:
    def run(job: Job) -> FlowResult:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        invocation(run).execute(plan(2))


@pytest.mark.parametrize("text, jobs", [("1", 1), ("12", 12)])
def test_jobs_is_a_number(text: str, jobs: int) -> None:
    assert parallel(text) == jobs


def test_auto_is_at_least_one_job() -> None:
    assert parallel("auto") >= 1


@pytest.mark.parametrize("text", ["0", "-1", "two", "", "1.5", "1001", "²"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(JobsError, match="a whole number from 1, or auto"):
        parallel(text)
