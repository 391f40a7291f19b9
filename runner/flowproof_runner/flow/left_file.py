"""The file that `agent.output` names: what an agent left there in this run, and nothing an earlier one left."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from flowproof_addons.trace import plain
from flowproof_runner.spec.agent import Output

type _Stamp = tuple[int, int, int]
"""Which file it is, when it last changed (nobody can set that), how long it is."""


@dataclass(frozen=True, slots=True)
class LeftFile:
    """A file as it was before the agent started."""

    name: str
    """As the spec has it."""
    path: Path
    before: _Stamp | None
    """None: it was not there."""

    @classmethod
    def awaited(cls, output: Output | None, directory: Path) -> LeftFile | None:
        """The file that is to hold the output; None where that is elsewhere."""
        if output is None or output.kind != "file":
            return None
        path = directory / output.name
        return cls(output.name, path, _stamp(path))

    def text(self) -> str | None:
        """What the agent left; None where it left nothing."""
        if _stamp(self.path) == self.before:
            return None
        try:
            return plain.read(self.path).decode("utf-8", "replace")
        except OSError:
            return None

    def why_not(self) -> str:
        """Why there is no text."""
        now = _stamp(self.path)
        if now is None:
            return f"agent.output: the agent wrote no file {self.name!r}"
        if now == self.before:
            return f"agent.output: file {self.name!r} is of an earlier run; this one did not write it"
        return f"agent.output: file {self.name!r} cannot be read"


def _stamp(path: Path) -> _Stamp | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_ctime_ns, found.st_size
