"""Many flows over one boundary: in parallel, in order, and always to an end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock
from typing import Protocol

from flowproof_runner.result import FlowResult


@dataclass(frozen=True, slots=True)
class Job:
    """One flow to be run."""

    index: int
    """Position in the plan, from 0."""
    spec: Path
    name: str
    ports: frozenset[int] = frozenset()
    """Fixed ports it listens on: flows that share one wait for each other."""


class Watcher(Protocol):
    """Is told what happens, from several threads at once."""

    def started(self, job: Job) -> None:
        """The flow begins."""
        ...

    def finished(self, job: Job, result: FlowResult) -> None:
        """The flow has ended."""
        ...


@dataclass(slots=True)
class Invocation:
    """Runs jobs on threads. `cancelled` tells running flows to come to an end."""

    run: Callable[[Job], FlowResult]
    skipped: Callable[[Job, str], FlowResult]
    """The result of a flow that was not run, with the reason."""
    watcher: Watcher
    jobs: int = 1
    fail_fast: bool = False
    cancelled: Event = field(default_factory=Event)
    _failed: Event = field(default_factory=Event)
    _results: dict[int, FlowResult] = field(default_factory=dict)
    _ports: dict[int, Lock] = field(default_factory=dict)

    def execute(self, plan: Sequence[Job]) -> tuple[FlowResult, ...]:
        """All results, in the order of the plan.

        Interrupted (by any exception in this thread), it cancels what runs, waits for it to end, and lets it fly;
        `so_far` then tells what had become of the flows.
        """
        self._ports = {port: Lock() for job in plan for port in job.ports}
        with ThreadPoolExecutor(max_workers=max(1, self.jobs), thread_name_prefix="flow") as pool:
            try:
                _all([pool.submit(self._one, job) for job in plan])
            except BaseException:
                self.cancelled.set()
                pool.shutdown(wait=True, cancel_futures=True)
                raise
        return self.so_far(plan)

    def so_far(self, plan: Sequence[Job]) -> tuple[FlowResult, ...]:
        """The results there are, in the order of the plan; a flow that never began was skipped."""
        return tuple(self._results.get(job.index) or self.skipped(job, "not run: interrupted") for job in plan)

    def _one(self, job: Job) -> None:
        if self.cancelled.is_set():
            return
        if self.fail_fast and self._failed.is_set():
            result = self.skipped(job, "not run: an earlier flow failed (--fail-fast)")
        else:
            with ExitStack() as held:
                for port in sorted(job.ports):
                    held.enter_context(self._ports[port])
                self.watcher.started(job)
                result = self.run(job)
        if result.verdict in ("fail", "error"):
            self._failed.set()
        self._results[job.index] = result
        self.watcher.finished(job, result)


def _all(futures: Sequence[Future[None]]) -> None:
    """Wait for all; a bug in one ends the waiting at once."""
    pending = set(futures)
    while pending:
        done, pending = wait(pending, return_when=FIRST_COMPLETED)
        for future in done:
            future.result()
