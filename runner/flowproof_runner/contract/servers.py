"""The MCP servers that answer a contract file's calls, and what they are held to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.expectations.contract.model import Lane
from flowproof_runner.reading.problems import Loc

STARTUP_S = 5.0
CALL_S = 60.0


@dataclass(frozen=True, slots=True)
class AnsweringServer:
    """One server as a contract file declares it."""

    name: str
    loc: Loc
    lane: Lane
    """Its limits; the catalogue it is held to is still in `snapshot`."""
    command: tuple[str, ...] = ()
    url: str = ""
    """In place of a command."""
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str = ""
    startup_s: float = STARTUP_S
    call_s: float = CALL_S
    snapshot: JsonValue = None
    """Its catalogue, or `{$file: path}`; None: it is held to none."""
    variables: bool = False
    """`${NAME}` in its command, URL, headers and environment stands for a variable of the environment."""
