"""The names of the built-in profiles."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

SUFFIX = ".yaml"


@cache
def names() -> tuple[str, ...]:
    """All of them, sorted."""
    found = (entry.name for entry in files(__package__).iterdir())
    return tuple(sorted(name.removesuffix(SUFFIX) for name in found if name.endswith(SUFFIX)))
