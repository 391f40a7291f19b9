"""Containment where the command driver starts its agent."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

from flowproof_runner.containment.contained import Contained
from flowproof_runner.containment.policy import Policy
from flowproof_runner.containment.process import ContainedProcess, NotContained
from flowproof_runner.containment.report import ContainmentReport, not_contained
from flowproof_runner.drivers.spawn import Launch, Plain, Running, cannot_start, output_file
from flowproof_runner.drivers.tree import Stopped, adopt_orphans


@dataclass(slots=True)
class ContainedAgents:
    """Starts one agent under a policy, and plainly where that cannot be had: the report's tier says which it was."""

    policy: Policy
    folder: Path
    """The flow's run folder."""
    _process: ContainedProcess | None = field(default=None, init=False)
    _why: str = field(default="the agent was not started", init=False)

    def spawn(self, launch: Launch) -> Running:
        """Start it. Raises DriverError if the command cannot be started."""
        adopt_orphans()
        try:
            with output_file(launch.stdout) as stdout, output_file(launch.stderr) as stderr:
                self._process = Contained(self.policy, self.folder).spawn(
                    launch.words, launch.environment, launch.cwd, stdout=stdout, stderr=stderr
                )
        except NotContained as reason:
            self._why = str(reason)
            return Plain().spawn(launch)
        except OSError as error:
            raise cannot_start(launch, error) from error
        return _Agent(self._process)

    def report(self) -> ContainmentReport:
        """What the agent did; to be asked for when it has ended."""
        return self._process.report() if self._process else ContainmentReport(not_contained(self._why))


class _Agent:
    def __init__(self, process: ContainedProcess) -> None:
        self._process = process
        self.ended: Event = process.ended

    @property
    def returncode(self) -> int | None:
        return self._process.returncode

    def stop(self, grace_s: float) -> Stopped:
        return Stopped(self._process.stop(0.0 if self.ended.is_set() else grace_s))
