"""Is what an agent lacks in flowproof's own environment? Said where that environment was not activated.

An agent's words are looked up on the PATH of the shell alone: flowproof may be installed apart from the agent, and then
its own `python3` would be the wrong one. So nothing is put on the PATH; the user is told.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

_PYTHON = re.compile(r"python[\d.]*")
_LACKS = re.compile(r"^(ModuleNotFoundError: |.*: )?No module named ", re.MULTILINE)
OWN = Path(sys.executable).parent


def program(name: str, own: Path = OWN) -> str:
    """Where a program that was not found is; empty where it is not here either."""
    if "/" in name or not (own / name).exists():
        return ""
    return f"; it is in {own}, which is not on the PATH: {_activate(own)}"


def python(words: Sequence[str], environment: Mapping[str, str], printed: Sequence[str], own: Path = OWN) -> str | None:
    """Which `python3` it was that lacks a module, where that is not the one flowproof runs with."""
    name = words[0] if words else ""
    if not _PYTHON.fullmatch(name) or not any(map(_LACKS.match, printed)):
        return None
    found = shutil.which(name, path=environment.get("PATH"))
    if found is None or Path(found).parent == own:
        return None
    return (
        f"{name} is {found} here, which lacks a module; flowproof itself runs in {own.parent}. If the agent's packages"
        f" are there, {_activate(own)}; if they are elsewhere, name that environment's python in agent.command"
    )


def _activate(own: Path) -> str:
    return f"start with `uv run flowproof`, or activate it first (`. {own / 'activate'}`)"
