"""What the user asked for, and when and where: what every part of an invocation needs to know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal

from flowproof_runner.inspect.web import Web


@dataclass(frozen=True, slots=True)
class Options:
    """What the user asked for."""

    command: Literal["run", "record"]
    paths: tuple[Path, ...]
    jobs: str = "1"
    keyword: str | None = None
    fail_fast: bool = False
    junit: Path | None = None
    json: bool = False
    record_missing: bool = False
    html: Path | None = None
    web: Web | None = None
    """Run in mitmweb, and leave it open."""
    twice: bool = False
    write: bool = False
    interactive: bool = False
    """Record a conversation that is typed."""


@dataclass(frozen=True, slots=True)
class Start:
    """When, where and in which environment the invocation began."""

    shell: Mapping[str, str] = field(repr=False)
    folder: Path
    at: datetime
    clock_s: float
