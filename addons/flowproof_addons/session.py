"""What the boundary is told about one flow: the contract between the runner and the addons.

The runner sends it over the control socket; by hand it is the JSON file of `--set flowproof_config=FILE`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from flowproof_addons.trace.model import JsonValue, Phase


class Part(BaseModel):
    """Base of everything here: immutable, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Upstream(Part):
    """Where one dialect's requests go at record."""

    url: str
    """Base URL; a path is a prefix: `https://gateway.example/llm`. A trailing `/v1` is understood."""
    key: str = Field(default="", repr=False)
    """Goes into the outbound header and nowhere else. Empty: the agent's own credential headers are forwarded."""


class Pin(Part):
    """A span that may differ between runs."""

    at: str = ""
    """Path in the request body: `messages[*].content`, `[*]` any index, `**` anywhere. Empty: the whole body."""
    match: str = ""
    """Regular expression; its groups (or the whole match, without groups) may differ. Empty: the whole value may."""
    kind: Literal["text", "date", "path", "unordered"] = "text"
    """`date`: the replayed span must be the real today, in the same format. `path`: a directory, mapped to the run's.
    `unordered`: the list at `at` is compared as a set (by id)."""
    why: str = ""
    name: str = ""
    """Shown in reports; the runner makes one from `at` and `match` where the spec gives none."""


class ToolMock(Part):
    """Spec-authored results of one tool, substituted at the model boundary in both phases."""

    name: str
    results: tuple[MockResult, ...]
    repeat: bool = True
    """One result serves every call (`result:`); False: `results:`, one per call, a further call is a failure."""


class MockResult(Part):
    """One result, with the calls it is for."""

    content: JsonValue
    is_error: bool = False
    call: int | None = None
    """Only the nth call of this tool, from 1."""
    where: dict[str, JsonValue] | None = None
    """Only calls whose arguments contain this subset."""


class McpTool(Part):
    """A tool the stand-in answers itself, in both phases."""

    name: str
    results: tuple[MockResult, ...] = ()
    repeat: bool = True
    tool_schema: JsonValue = None
    """Given: the tool is listed even if the real server lacks it."""


class McpConfirm(Part):
    """A tool whose every call needs an approval first."""

    tool: str
    by: str = ""
    """The tool of any server under `mcp:` whose answer approves; empty: nothing a lane can see, so all are refused."""
    bound: bool = False
    """The approval must have been for exactly these arguments."""


class McpServer(Part):
    """One MCP server declared in the spec."""

    name: str
    command: tuple[str, ...] = ()
    """The real stdio server, started only at record."""
    url: str = ""
    """The real streamable-HTTP server, contacted only at record."""
    headers: dict[str, str] = Field(default_factory=dict, repr=False)
    env: dict[str, str] = Field(default_factory=dict, repr=False)
    cwd: str = ""
    port: int = 0
    """Fixed port of the listener; 0: any."""
    tools: tuple[McpTool, ...] = ()
    forbidden: tuple[str, ...] = ()
    """Tools answered with a tool error before dispatch (`enforce:`)."""
    confirm: tuple[McpConfirm, ...] = ()
    """Tools answered with a tool error unless a person agreed to this call (`enforce: [confirmation]`)."""
    startup_s: float = 10.0
    call_s: float = 60.0


class ModelFault(Part):
    """A failure put in the place of a model's answer, or done to it; such a request is no turn."""

    label: str
    """What reports call it, unique in the session: `turn 2: answer 429`."""
    turn: int
    """The request that would be this turn, from 1."""
    times: int = 1
    """How many requests it is for; the next one is answered."""
    kind: Literal["answer", "timeout", "reset", "closed", "cut", "malformed", "slow"]
    """`answer`: an error of the API. `timeout`: nothing. `reset`, `closed`: the connection, without an answer. `cut`,
    `malformed` (arguments of tool calls), `slow` (frame by frame): the answer itself."""
    status: int = 0
    retry_after_s: float | None = None
    frames: int | None = None
    """How many frames of a cut stream arrive; None: half of them."""
    seconds: float = 0.0
    """`timeout`: the longest it lasts; `slow`: between frames."""


class McpFault(Part):
    """A failure of an MCP server in the place of its answer to one call."""

    label: str
    server: str
    tool: str
    nth: int = 1
    """The call that would be this one among the tool's answered calls, from 1."""
    times: int = 1
    kind: Literal["error", "rpc_error", "timeout", "dies", "slow"]
    """`error`: the tool fails. `rpc_error`: the protocol does. `dies`: the server is gone."""
    message: str = ""
    code: int = -32603
    seconds: float = 0.0


class Conversation(Part):
    """Several user turns in one session; the first has begun when the session opens."""

    quiet_s: float | None = None
    """At record: a user turn has settled when nothing was in flight for so long, whatever was asked for last. None:
    after the usual time, and never while the last reply asks for a tool."""


class Session(Part):
    """One flow being recorded or replayed."""

    id: str
    phase: Phase
    folder: Path
    """The flow's run folder: the trace journal, server stderr, generated stand-ins."""
    cassette: Path | None = None
    """What replay answers from."""
    port: int = 0
    """Fixed port of the model listener (`proxy_port`); 0: any."""
    upstreams: dict[str, Upstream] = Field(default_factory=dict)
    """Per dialect name; `*` for all others and for side calls."""
    pins: tuple[Pin, ...] = ()
    mocks: tuple[ToolMock, ...] = ()
    mcp: tuple[McpServer, ...] = ()
    faults: tuple[ModelFault, ...] = ()
    mcp_faults: tuple[McpFault, ...] = ()
    secrets: dict[str, str] = Field(default_factory=dict, repr=False)
    """Name -> value: written as `${NAME}` wherever the value would reach the disk."""
    redact_keys: tuple[str, ...] = ()
    """Body and header keys whose values are never written."""
    own_directory: str = ""
    """The agent's working directory, for `path` pins."""
    habitat: str = ""
    """The run's folder with the agent's home and workspace, where it has one: for `path` pins too."""
    clock: str = ""
    """The time the agent is told it is (`agent.clock`), where it is not the real one."""
    reorder: bool = False
    """At replay: parallel calls are served in the other order."""
    keep_attempts: bool = False
    """Keep 429/5xx answers as turns of their own instead of attempts."""
    agent_cwd: str = ""
    conversation: Conversation | None = None
    """Several user turns, begun one by one by the runner; None: one task."""
    websocket: bool = False
    """Agents may have a WebSocket where their API has one; else an upgrade is answered 426."""
    spec: str = ""
    """Digest of the spec."""
