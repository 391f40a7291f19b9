"""The suite's commands around each flow."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from flowproof_runner.drivers.base import DriverError
from flowproof_runner.drivers.spawn import Launch, Plain
from flowproof_runner.drivers.tail import tail
from flowproof_runner.findings import Finding

_TIMEOUT_S = 300.0
_MARK = "FLOWPROOF_HOOK"


@dataclass(frozen=True, slots=True)
class Hooks:
    """Commands of one suite file."""

    when: Literal["before_each", "after_each"]
    commands: Sequence[tuple[str, ...]]
    cwd: Path
    environment: Mapping[str, str] = field(repr=False)
    where: str
    """`file:line` of them."""

    def run(self, folder: Path) -> Iterator[Finding]:
        """Run them in order, output into `folder`; the first that fails ends it.

        What a command leaves running (a service it started) stays until flowproof ends.
        """
        for number, words in enumerate(self.commands, start=1):
            failure = self._one(words, folder / f"{self.when}-{number}.txt")
            if failure is not None:
                yield failure
                return

    def _one(self, words: tuple[str, ...], output: Path) -> Finding | None:
        mark = secrets.token_hex(8)
        environment = {**self.environment, _MARK: mark}
        launch = Launch(words, self.cwd, environment, output, output.with_suffix(".err.txt"), f"{_MARK}={mark}")
        try:
            running = Plain().spawn(launch)
        except DriverError as error:
            return self._failure(str(error).replace("agent.command", self.when), ())
        if not running.ended.wait(_TIMEOUT_S):
            running.stop(0.0)
            return self._failure(f"{words[0]!r} was still running after {_TIMEOUT_S:g} s and was ended", ())
        if running.returncode:
            told = tail(launch.stderr) or tail(launch.stdout)
            return self._failure(f"{words[0]!r} failed with exit code {running.returncode}", told)
        return None

    def _failure(self, message: str, told: Sequence[str]) -> Finding:
        return Finding(
            id=f"suite.{self.when.replace('_', '-')}",
            kind="problem",
            message=f"{self.when}: {message}" if not message.startswith(self.when) else message,
            detail="\n".join(told),
            where=self.where,
        )
