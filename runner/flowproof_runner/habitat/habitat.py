"""What one run's agent finds around it, put together before it starts and gone when the run is judged."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from flowproof_runner.drivers.handles import Handles
from flowproof_runner.habitat import home as homes
from flowproof_runner.habitat.clock import Clockwork, wound
from flowproof_runner.habitat.ground import claimed
from flowproof_runner.habitat.workspace import GIT, STAMP, copied, repository
from flowproof_runner.spec.habitat import Clock, Home, Workspace


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a spec asks for."""

    name: str
    """Of the flow: its folder is called after it."""
    beside: Path
    """The spec's folder."""
    home: Home | None = None
    workspace: Workspace | None = None
    clock: Clock | None = None

    @property
    def isolated(self) -> bool:
        """True for a home that is not the user's."""
        return self.home is not None and self.home.mode == "isolated"


@dataclass(frozen=True, slots=True)
class Habitat:
    """The agent's surroundings in one run."""

    directory: Path
    """Where the agent is started."""
    root: Path | None = None
    """The folder that holds all of it; None where nothing was asked for."""
    places: Mapping[str, str] = field(default_factory=dict)
    """Handles for its folders: `flowproof.home`."""
    clock: Clockwork | None = None
    _isolated: bool = False
    _variables: Mapping[str, str] = field(default_factory=dict)
    _files: Mapping[Path, str] = field(default_factory=dict)

    def shell(self, shell: Mapping[str, str]) -> dict[str, str]:
        """The variables the agent inherits."""
        return {**(homes.without_user(shell) if self._isolated else shell), **self._variables}

    def overrides(self, shell: Mapping[str, str], own: Mapping[str, str]) -> dict[str, str]:
        """The spec's own variables, with the clock's hooks put before what they say under the same names."""
        return {**own, **(self.clock.variables({**shell, **own}) if self.clock else {})}

    @property
    def scratch(self) -> tuple[str, ...]:
        """Globs of what is the agent's to write without anybody minding: all of it but its workspace."""
        return () if self.root is None else tuple(f"{self.root}/{name}/**" for name in homes.SCRATCH)

    def furnish(self, handles: Handles) -> None:
        """Write the files whose text depends on the boundary's addresses."""
        for path, text in self._files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(handles.fill(text))


@contextmanager
def settled(wanted: Wanted, directory: Path, shell: Mapping[str, str]) -> Iterator[Habitat]:
    """The habitat of one run for as long as the block lasts. `directory`: the agent's, where it has no workspace.

    Raises DriverError if it cannot be made.
    """
    places = {"flowproof.spec_dir": str(wanted.beside.absolute())}
    if not (wanted.isolated or wanted.workspace or wanted.clock):
        yield Habitat(directory, places=places)
        return
    with claimed(wanted.name) as root:
        variables, files = dict[str, str](), dict[Path, str]()
        if wanted.home is not None and wanted.isolated:
            variables |= homes.variables(root)
            places["flowproof.home"] = variables["HOME"]
            files = _furnished(wanted.home, wanted.beside, root / "home")
        if wanted.workspace is not None:
            directory = root / "work"
            places["flowproof.workspace"] = str(directory)
            variables |= _workspace(wanted.workspace, wanted.beside, directory, shell)
        clock = wound(wanted.clock, root / "clock") if wanted.clock is not None else None
        os.utime(root, (STAMP, STAMP))  # `ls -la` shows it as `..`
        yield Habitat(directory, root, places, clock, wanted.isolated, variables, files)


def _furnished(home: Home, beside: Path, folder: Path) -> dict[Path, str]:
    if home.source is not None:
        copied(beside / home.source, folder, "agent.home.from")
    return {folder / path: text for path, text in home.files.items()}


def _workspace(workspace: Workspace, beside: Path, folder: Path, shell: Mapping[str, str]) -> dict[str, str]:
    """Make it; the variables that go with it."""
    folder.mkdir(mode=0o755)
    if workspace.source is not None:
        copied(beside / workspace.source, folder, "agent.workspace")
    if not workspace.git:
        return {}
    repository(folder, shell.get("PATH", ""))
    return dict(GIT)
