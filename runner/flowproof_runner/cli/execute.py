"""What `record` and `run` share: start mitmdump first, then everything else."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from pathlib import Path

from flowproof_addons import FlowproofError
from flowproof_runner.boundary.ahead import Ahead
from flowproof_runner.boundary.process import BoundaryProcess
from flowproof_runner.inspect.web import Web
from flowproof_runner.invocation.asked import Options, Start
from flowproof_runner.invocation.jobs import parallel
from flowproof_runner.program import bugs
from flowproof_runner.records import runs
from flowproof_runner.targets import selection
from flowproof_runner.targets.specs import collect


def execute(options: Options, started: Ahead | None = None) -> int:
    """Do it all; the exit code. With `json`, an error that leaves no report is JSON on stdout too.

    `started`: a mitmdump that is starting already.
    """
    try:
        return _execute(options, started)
    except FlowproofError as error:
        from flowproof_runner.invocation.publish import ReportError, failure

        if options.json and not isinstance(error, ReportError):
            print(failure(error), end="", flush=True)
        raise


def _execute(options: Options, started: Ahead | None) -> int:
    start = Start(dict(os.environ), Path.cwd(), datetime.now(UTC), time.monotonic())
    jobs = parallel(options.jobs)
    wanted = selection.EVERYTHING if options.keyword is None else selection.parse(options.keyword)
    paths = collect(options.paths)
    folder = runs.create(start.folder, start.shell, start.at)
    with bugs.kept_in(folder.path), _boundary(folder.path / "boundary", options.web, started) as process:
        # mitmdump takes half a second to start; these imports take a third, meanwhile.
        if options.interactive:
            from flowproof_runner.interactive.command import author

            return author(options, start, paths, folder, process)
        from flowproof_runner.invocation.running import run_flows

        return run_flows(options, start, jobs, paths, wanted, folder, process)


def _boundary(folder: Path, web: Web | None, started: Ahead | None) -> BoundaryProcess:
    if started is not None and web is None:
        return started.take(folder)
    return BoundaryProcess(folder) if web is None else BoundaryProcess(folder, web=True, options=web.options())
