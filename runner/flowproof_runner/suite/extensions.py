"""The addon files of suites: loaded here for their dialects, and into the boundary for that and their hooks."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from flowproof_addons import FlowproofError
from flowproof_addons.userfile import AddonFileError, load
from flowproof_runner.suite.file import Suite


class ExtensionError(FlowproofError):
    """An addon file of a suite cannot be loaded."""


class Host(Protocol):
    """Where addon files are loaded besides: the boundary."""

    def load(self, addon: Path) -> None:
        """Let a file in. Raises FlowproofError if it cannot be."""
        ...


def admit(suite: Suite, host: Host | None = None) -> None:
    """Load a suite's addon files, each once a process. Raises ExtensionError with the place that names the file."""
    for path in suite.addons:
        try:
            load(path)
        except AddonFileError as error:
            raise ExtensionError(f"{suite.where('addons')}: {error}") from error
        if host is not None:
            host.load(path)
