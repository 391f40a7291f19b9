"""How a project's agent is started, as far as its files tell."""

from __future__ import annotations

import json
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path

EXAMPLE = "python3 my_agent.py"
"""Stands in a spec where nothing was found."""

_SCRIPTS = ("agent.py", "main.py", "app.py", "agent.mjs", "agent.js", "index.mjs", "index.js")


def found(project: Path) -> str | None:
    """The command that most likely starts the agent, else None; nothing is executed to find out."""
    return next(_commands(project), None)


def _commands(project: Path) -> Iterator[str]:
    manifest = _json(project / "package.json")
    scripts = manifest.get("scripts")
    for name in ("agent", "start"):
        if isinstance(scripts, dict) and name in scripts:
            yield f"npm run --silent {name}"
    table = _toml(project / "pyproject.toml").get("project")
    entries = table.get("scripts") if isinstance(table, dict) else None
    if isinstance(entries, dict):
        yield from (shlex.quote(str(name)) for name in entries)
    for script in _SCRIPTS:
        if (project / script).is_file():
            yield f"{'python3' if script.endswith('.py') else 'node'} {script}"


def _json(path: Path) -> dict[str, object]:
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return read if isinstance(read, dict) else {}


def _toml(path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
