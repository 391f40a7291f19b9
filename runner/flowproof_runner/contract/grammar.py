"""The envelope of a contract file: who is asked what, who answers, what must hold.

`schemaVersion: "0.1"` files are read as they are and imported; `"0.2"` is the same envelope with `expect:` as in specs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from pydantic import Field

from flowproof_runner.contract.servers import AnsweringServer
from flowproof_runner.expectations.contract.model import Contract, Lane
from flowproof_runner.reading.fields import Counted, Flag, Json, Object, Part, Text, Words
from flowproof_runner.reading.problems import Complaint, Loc

_ID = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"


class Input(Part):
    """What the agent is asked."""

    message: Words
    data: Json = None


class AdapterCommand(Part):
    """How the adapter is started when no command is given."""

    command: Annotated[tuple[Text, ...], Field(min_length=1)]


class Enforcement(Part):
    """Whether calls are refused before dispatch."""

    preDispatch: Flag = False  # the file format's name


class McpCommand(Part):
    """How the MCP server is started: stdio, no shell."""

    command: Annotated[tuple[Text, ...], Field(min_length=1)]
    env: dict[str, str] = Field(default_factory=dict, repr=False)
    cwd: str = ""


class Redaction(Part):
    """Whose values are never written."""

    keys: Annotated[tuple[Words, ...], Field(min_length=1)]
    replacement: Text = ""
    """What stands in their place; empty: `${REDACTED:its name}`."""


class Mcp(Part):
    """An MCP server that answers the calls."""

    server: McpCommand
    capabilitySnapshot: Object | None = None
    toolSnapshot: Json = None
    startupTimeoutMs: Counted = 5000
    requestTimeoutMs: Counted | None = None
    maxToolDurationMs: Counted | None = None
    maxResponseBytes: Counted | None = None
    redaction: Redaction | None = None


class Performance(Part):
    """How long a run may take."""

    maxDurationMs: Counted | None = None


class Envelope(Part):
    """A contract file."""

    id: Annotated[str, Field(pattern=_ID)]
    input: Input
    fixtures: dict[str, Json] = Field(default_factory=dict)
    adapter: AdapterCommand | None = None
    enforcement: Enforcement = Enforcement()
    performance: Performance = Performance()

    @property
    def harmless(self) -> frozenset[str]:
        """Tools that change nothing: what mutants may repeat without harm."""
        return frozenset()

    @property
    def version(self) -> str:
        """The version of the file format."""
        raise NotImplementedError

    @property
    def hidden(self) -> Redaction | None:
        """Whose values are never written."""
        return None

    @property
    def servers(self) -> tuple[AnsweringServer, ...]:
        """The MCP servers that answer."""
        raise NotImplementedError

    def compiled(self, where: Callable[[Loc], str]) -> tuple[Contract, tuple[Complaint, ...]]:
        """The contract, with everything wrong in it located from the top of the file on."""
        raise NotImplementedError


class OneServer(Envelope):
    """A contract file with at most one server, called `mcp`."""

    mcp: Mcp | None = None

    @property
    def hidden(self) -> Redaction | None:
        """See Envelope."""
        return self.mcp.redaction if self.mcp is not None else None

    @property
    def servers(self) -> tuple[AnsweringServer, ...]:
        """See Envelope."""
        mcp = self.mcp
        if mcp is None:
            return ()
        lane = Lane(
            id="mcp",
            server="",
            call_ms=mcp.maxToolDurationMs,
            result_bytes=mcp.maxResponseBytes,
            errors=True,
            capabilities=mcp.capabilitySnapshot,
        )
        return (
            AnsweringServer(
                name="mcp",
                loc=("mcp",),
                lane=lane,
                command=mcp.server.command,
                env=mcp.server.env,
                cwd=mcp.server.cwd,
                startup_s=mcp.startupTimeoutMs / 1000,
                call_s=(mcp.requestTimeoutMs or max(2 * (mcp.maxToolDurationMs or 1000), 1000)) / 1000,
                snapshot=mcp.toolSnapshot,
            ),
        )
