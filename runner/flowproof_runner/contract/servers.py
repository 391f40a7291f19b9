"""The MCP servers that answer a contract file's calls, and what they are held to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.expectations.contract.model import Lane
from flowproof_runner.reading.problems import Loc

if TYPE_CHECKING:
    from flowproof_runner.spec.mcp import Server

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


def limited(number: int, server: Server, where: str = "") -> Lane:
    """What the `limits:` of the server with this number under `mcp:` demand."""
    call_s = server.limits.call
    return Lane(
        id=f"mcp[{number}]",
        where=where,
        server=server.name,
        call_ms=None if call_s is None else call_s * 1000,
        result_bytes=server.limits.result,
    )
