"""The events of a run. Every assertion, contract check, report and diff reads these and nothing else.

Four observations of one tool call: the model *decided* it, it was *dispatched* to a server or adapter, that server's
answer *returned*, and a later request *told* the model the result. They are joined by `call` where ids allow it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from flowproof_addons.trace.model import JsonValue

MODEL = "model"
"""The lane of the model boundary; every other lane is an MCP server's name or `adapter`."""

ADAPTER = "adapter"
"""The lane of a JSON Lines adapter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something observed."""

    seq: int
    """Position in the run's stream, from 0."""
    lane: str
    """`model`, an MCP server's name, or `adapter`."""
    turn: int | None = None
    """The model turn it belongs to, from 1; None where no turn is involved."""
    at_ms: float | None = None
    """Milliseconds since the run began, where the driver measured it."""
    user_turn: int | None = None
    """In a conversation: the user turn it came of, from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked(Event):
    """A model request arrived: the start of a turn."""

    dialect: str
    model: str
    thread: str
    """Which conversation: turns with one system prompt share it."""
    tools: tuple[str, ...] = ()
    request_chars: int = 0
    """Size of the request, to tell the main conversation from a housekeeping call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replied(Event):
    """The model answered a turn."""

    thread: str
    status: int
    text: str | None
    model: str
    input_tokens: int | None = None
    output_tokens: int | None = None
    stop: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided(Event):
    """The model's reply asked for a tool."""

    call: str
    """Identity of the call within the run: the provider's id, or one made unique by position."""
    tool: str
    arguments: JsonValue
    arguments_text: str
    thread: str
    group: int
    """Calls of one reply share a group and may be matched in any order."""
    known: tuple[str, ...] = ()
    """Calls whose results were in the request that produced this decision: what it was informed by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatched(Event):
    """A call reached an MCP server, an adapter's backend or a fixture."""

    call: str
    tool: str
    """The bare tool name; `lane` says whose."""
    arguments: JsonValue
    known: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Denied(Event):
    """A requested call was refused before dispatch by `enforce:`."""

    call: str
    tool: str
    arguments: JsonValue
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned(Event):
    """The server's answer to a dispatched call."""

    call: str
    tool: str
    result: JsonValue
    is_error: bool = False
    mocked: bool = False
    """Answered by the spec, not by the server."""
    duration_ms: float | None = None
    size_bytes: int | None = None
    fault: bool = False
    """It is a fault of the spec's; the server was not asked."""
    fixture_miss: bool = False
    """A fixture of this tool is declared, but none for this call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told(Event):
    """A model request carried a tool's result."""

    call: str
    tool: str
    result: JsonValue
    is_error: bool = False
    mocked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmed(Event):
    """A person (or a stand-in for one) answered a confirmation."""

    call: str | None
    """The call it is bound to, else None."""
    tool: str
    arguments: JsonValue
    granted: bool
    id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Concluded(Event):
    """The run's structured outcome (adapter `final`, `agent.output`)."""

    status: str | None
    output: JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovered(Event):
    """An MCP server said what it offers; `lane` is the server."""

    capabilities: JsonValue
    tools: tuple[JsonValue, ...]
    modern: bool = False
    """Asked with `server/discover` (2026-07-28): servers may tell such clients of other capabilities."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Diverged(Event):
    """A request that no recording answers."""

    report: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True, kw_only=True)
class Faulted(Event):
    """A model request was answered with a fault of the spec's: it was no turn; `turn` is the one it stood in for."""

    label: str
    status: int
    """Of the answer; 0 where there was none."""


type AnyEvent = (
    Asked
    | Replied
    | Decided
    | Dispatched
    | Denied
    | Returned
    | Told
    | Confirmed
    | Concluded
    | Discovered
    | Diverged
    | Faulted
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """All events of one run, in order, with what was observable."""

    events: tuple[AnyEvent, ...]
    observed_lanes: frozenset[str] = frozenset()
    """Lanes whose dispatches are observed: MCP servers declared under `mcp:`, the adapter."""
    lane_of: Mapping[str, str] = field(default_factory=dict)
    """Tool name (bare and qualified) -> the observed lane that offers it."""
    duration_ms: float | None = None
    """From the prompt to the agent's end, where measured."""
    main: str | None = None
    """The main conversation, where more is known of it than these events tell."""
    complete: bool = True
    """False when the run crashed or was stopped: nothing may be concluded from what is absent."""

    def of[T: Event](self, kind: type[T]) -> Iterator[T]:
        """The events of one kind, in order."""
        return (event for event in self.events if isinstance(event, kind))
