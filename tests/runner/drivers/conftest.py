"""What the driver tests share: a task whose boundary is only an address."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from threading import Event

import pytest

from flowproof_runner.drivers.base import Addresses, Task
from flowproof_runner.drivers.command import Command

type MakeTask = Callable[..., Task]
type MakeCommand = Callable[..., Command]


@pytest.fixture
def make_task(tmp_path: Path) -> MakeTask:
    def make(prompt: str = "Book a flight", timeout_s: float = 30.0) -> Task:
        addresses = Addresses(
            "http://127.0.0.1:41233", {"files": "http://127.0.0.1:5/mcp"}, {"files": "python -m stand_in files"}
        )
        return Task(prompt, tmp_path, addresses, timeout_s, Event(), Event())

    return make


@pytest.fixture
def make_command(tmp_path: Path) -> MakeCommand:
    """A driver whose agent is a Python script given as text."""

    def make(script: str, *arguments: str, env: dict[str, str] | None = None) -> Command:
        words = (sys.executable, "-I", "-S", "-c", script, *arguments)
        return Command(words, tmp_path, {"PATH": "/usr/bin:/bin"}, env or {})

    return make
