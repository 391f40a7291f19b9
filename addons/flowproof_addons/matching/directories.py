"""The directories that are a run's own, under the names this run and the recorded one have for them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Directory:
    """One of them."""

    own: frozenset[str]
    """As it is written in this run; empty where there is none."""
    recorded: str = ""
    """In the recording; empty when unknown."""


@dataclass(frozen=True, slots=True)
class Directories:
    """What `path` pins go by."""

    each: tuple[Directory, ...] = ()

    @property
    def recorded(self) -> bool:
        """True when some directory of the recording is known."""
        return any(directory.recorded for directory in self.each)

    def maps(self, recorded: str, sent: str, *, anything: bool = False) -> bool:
        """True when the one names in the recording what the other names now. `anything`: a pin's `match` found it."""
        if recorded.endswith("/") != sent.endswith("/"):
            return False
        old, new = recorded.rstrip("/"), sent.rstrip("/")
        return any(
            new in directory.own and (anything or not directory.recorded or old == directory.recorded)
            for directory in self.each
        )

    def pattern(self) -> re.Pattern[str]:
        """Finds any of them in a text, and no other whose name only begins like it."""
        names = {name for directory in self.each for name in (*directory.own, directory.recorded) if name}
        return re.compile("|".join(map(_word, sorted(names, key=len, reverse=True))) or r"(?!)")


def directories(own: str, recorded: str = "", habitat: str = "", recorded_habitat: str = "") -> Directories:
    """The agent's working directory, and the folder that holds its home and workspace where it has one.

    Of that folder also the form in which clients make names of paths: `/tmp/a.b` -> `-tmp-a-b`.
    """
    pairs = [(_names(habitat), recorded_habitat.rstrip("/"))]
    if not habitat or not own.startswith(f"{habitat}/"):
        pairs.append((_names(own), recorded.rstrip("/")))  # else it has moved with the folder it is in
    if habitat:
        pairs.append((frozenset([_slug(habitat)]), _slug(recorded_habitat)))
    return Directories(tuple(Directory(names, before) for names, before in pairs if names))


def _names(path: str) -> frozenset[str]:
    """The names under which a directory may be written: as given, and with links resolved."""
    return frozenset(name.rstrip("/") for name in _spellings(path)) if path else frozenset()


def _spellings(path: str) -> Iterable[str]:
    return path, os.path.realpath(path)


def _slug(path: str) -> str:
    return re.sub(r"[^A-Za-z0-9]", "-", path)


def _word(name: str) -> str:
    if "/" in name:
        return rf"(?<![\w/.-]){re.escape(name)}(?![\w-]|\.\w)"
    return rf"(?<![\w-]){re.escape(name)}(?!\w)"
