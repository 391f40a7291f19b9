"""The clock an agent sees: hooks that Python and Node load when they start, libfaketime where it is asked for.

Each process that honours the clock says so by a file, so that a run whose agent does not is told from one that does.
"""

from __future__ import annotations

import datetime as dt
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

from flowproof_runner.drivers.base import DriverError
from flowproof_runner.spec.habitat import Clock

_LIBRARIES = (
    "/usr/lib/*/faketime/libfaketime.so.1",
    "/usr/lib/faketime/libfaketime.so.1",
    "/usr/lib64/faketime/libfaketime.so.1",
    "/usr/local/lib/faketime/libfaketime.so.1",
    "/opt/homebrew/lib/faketime/libfaketime.1.dylib",
)
_PRELOAD = "LD_PRELOAD"


@dataclass(frozen=True, slots=True)
class Clockwork:
    """One run's clock, its hooks in a folder of the run."""

    at: dt.datetime
    moves: bool
    folder: Path
    library: Path | None
    """libfaketime, where it is asked for."""

    def variables(self, environment: Mapping[str, str]) -> dict[str, str]:
        """What makes processes honour it, added to what `environment` says under the same names."""
        node = f'--require="{self.folder / "clock.cjs"}"'
        added = {
            "FLOWPROOF_CLOCK": repr(self.at.timestamp()),
            "FLOWPROOF_CLOCK_MOVES": "1" if self.moves else "0",
            "FLOWPROOF_CLOCK_ANNOUNCED": str(self._announced),
            "PYTHONPATH": _joined(str(self.folder), environment.get("PYTHONPATH", ""), os.pathsep),
            "NODE_OPTIONS": _joined(node, environment.get("NODE_OPTIONS", ""), " "),
        }
        if self.library is not None:
            when = self.at.astimezone(dt.UTC).strftime("%Y-%m-%d %H:%M:%S")
            added |= {
                _PRELOAD: _joined(str(self.library), environment.get(_PRELOAD, ""), ":"),
                "FAKETIME": f"@{when}" if self.moves else when,
                "DONT_FAKE_MONOTONIC": "1",
                "NO_FAKE_STAT": "1",
            }
        return added

    @property
    def honoured(self) -> bool:
        """True when some process of the agent has said so, or could not say it: libfaketime is silent."""
        return self.library is not None or any(self._announced.iterdir())

    @property
    def _announced(self) -> Path:
        return self.folder / "announced"


def wound(clock: Clock, folder: Path) -> Clockwork:
    """A clock with its hooks put into a (new) folder.

    Raises DriverError if libfaketime is asked for and not there.
    """
    library = libfaketime() if clock.libfaketime else None
    if clock.libfaketime and library is None:
        raise DriverError(
            "agent.clock: libfaketime is not installed: install it (apt install faketime), or leave `libfaketime` out"
        )
    (folder / "announced").mkdir(parents=True)
    for name in ("sitecustomize.py", "clock.cjs"):
        with as_file(files("flowproof_runner.habitat") / "hooks" / name) as hook:
            shutil.copyfile(hook, folder / name)
    return Clockwork(dt.datetime.fromisoformat(clock.at), clock.moves, folder, library)


def libfaketime() -> Path | None:
    """The library, where it is installed."""
    found = (path for pattern in _LIBRARIES for path in sorted(Path("/").glob(pattern.removeprefix("/"))))
    return next(found, None)


def _joined(first: str, rest: str, by: str) -> str:
    return f"{first}{by}{rest}" if rest else first
