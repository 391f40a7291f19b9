"""From what the user typed to the specs that are meant."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from flowproof_addons import FlowproofError

_SUFFIXES = (".flow.yaml", ".flow.yml")
_FOREIGN = {"node_modules", "__pycache__", "venv"}


class NothingToRun(FlowproofError):
    """The paths hold no spec, or the selection leaves none."""


def collect(paths: Sequence[Path]) -> tuple[Path, ...]:
    """The specs in `paths`, files and folders, each once, in the order given and by name within a folder.

    Raises NothingToRun if a path does not exist, holds no spec or is not one.
    """
    unique = dict[Path, Path]()
    for spec in (spec for path in paths for spec in _specs(path)):
        unique.setdefault(Path(os.path.realpath(spec)), spec)
    return tuple(unique.values())


def _specs(path: Path) -> Iterable[Path]:
    if path.is_dir():
        specs = sorted(_walk(path))
        if not specs:
            raise NothingToRun(f"no spec in {str(path)!r}: specs are files named *.flow.yaml")
        return specs
    if not path.exists():
        raise NothingToRun(f"{str(path)!r} does not exist: give a spec (*.flow.yaml) or a folder of specs")
    if path.name.endswith(".trace.json"):
        spec = f"{path.name.removesuffix('.trace.json')}.flow.yaml"
        raise NothingToRun(f"{str(path)!r} is a cassette: give its spec ({spec}), or look at it with flowproof show")
    if path.suffix not in (".yaml", ".yml"):
        raise NothingToRun(f"{str(path)!r} is not a spec: specs are YAML files named *.flow.yaml")
    return (path,)


def _walk(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in _FOREIGN]
        yield from (Path(place, name) for name in files if name.endswith(_SUFFIXES))
