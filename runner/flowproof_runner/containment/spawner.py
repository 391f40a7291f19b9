"""Containment as the command driver's way to start an agent."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from subprocess import DEVNULL
from typing import Final

from flowproof_runner.containment.contained import Contained
from flowproof_runner.containment.policy import Policy
from flowproof_runner.containment.process import ContainedProcess, NotContained
from flowproof_runner.containment.report import ContainmentReport, not_contained
from flowproof_runner.drivers.spawn import Launch, Plain, Running, cannot_start, output_file
from flowproof_runner.drivers.tree import Stopped, adopt_orphans

_IMPATIENT: Final = {"npm_config_fetch_retries": "0", "PIP_RETRIES": "0"}
"""pip and npm try again for seconds whatever the error, also what was refused."""


@dataclass(slots=True)
class ContainedSpawner:
    """Starts one agent under a policy; where that cannot be had, starts it plainly and says so in the report.

    The agent runs either way: whether an uncontained run may pass is the spec's question, answered by `judge`.
    """

    policy: Policy
    folder: Path
    """The run folder: what the agent does below it is ours."""
    report: ContainmentReport = field(default_factory=lambda: ContainmentReport(not_contained("the agent never ran")))
    """Complete once the agent was stopped."""

    def spawn(self, launch: Launch) -> Running:
        """Start it. Raises DriverError if the agent's command cannot be started."""
        adopt_orphans()  # should its supervisor be killed, what it leaves is ours to end
        with output_file(launch.stdout) as stdout, output_file(launch.stderr) as stderr:
            contained = Contained(self.policy, self.folder)
            try:
                environment = {**_IMPATIENT, **launch.environment}
                stdin = DEVNULL if launch.stdin is None else launch.stdin
                process = contained.spawn(
                    launch.words, environment, launch.cwd, stdin=stdin, stdout=stdout, stderr=stderr
                )
            except NotContained as reason:
                self.report = ContainmentReport(not_contained(str(reason)))
                return Plain().spawn(launch)
            except (OSError, ValueError) as error:
                raise cannot_start(launch, error) from error
        return _Contained(process, self)


class _Contained:
    def __init__(self, process: ContainedProcess, spawner: ContainedSpawner) -> None:
        self._process = process
        self._spawner = spawner
        self.ended = process.ended

    @property
    def returncode(self) -> int | None:
        return self._process.returncode

    def stop(self, grace_s: float) -> Stopped:
        others = self._process.stop(grace_s)
        self._spawner.report = self._process.report()
        return Stopped(others)
