"""The extension point: what flowproof must know of one model API. All of it pure, values in and values out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

from flowproof_addons.trace.model import JsonValue, Request


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The model asked for a tool."""

    id: str
    """The provider's call id, which the result echoes; empty where the API has none."""
    name: str
    arguments: JsonValue
    """Parsed; `""` reads as `{}`; the raw text where it is not valid JSON."""
    arguments_text: str
    """As on the wire (or the compact JSON where the API carries an object)."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What the agent told the model a tool returned, found in a request."""

    call_id: str
    name: str
    """Empty when neither the result nor an earlier call in the same request names the tool."""
    content: JsonValue
    """Text (parsed as JSON where it is JSON), or the provider's content list."""
    is_error: bool
    path: tuple[str | int, ...]
    """Where the result's content stands in the request body, as JSON object keys and array indexes."""


@dataclass(frozen=True, slots=True)
class Said:
    """One item of the conversation in a request, for people to read."""

    role: str
    """As the API has it: `system`, `user`, `assistant`, `tool`, `model`."""
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    results: tuple[ToolResult, ...] = ()
    parts: tuple[str, ...] = ()
    """Kinds of what is there besides: `image`, `document`, `thinking`."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one turn, as the provider counted them; None where it said nothing."""

    input: int | None = None
    output: int | None = None
    total: int | None = None


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What a request asks of the model."""

    model: str
    system: str
    """All system/developer text, joined with newlines: what tells one conversation from another."""
    roles: tuple[str, ...]
    """The conversation's item kinds in order, for envelope comparison: ("system", "user", "assistant", "tool")."""
    tools: tuple[str, ...]
    """Names of the tools offered, in order."""
    results: tuple[ToolResult, ...]
    """Every tool result in the request, in order, earlier turns' included."""
    parallel: tuple[tuple[tuple[str | int, ...], ...], ...] = ()
    """Groups of paths whose items answer calls made in parallel and may therefore arrive in any order."""
    previous_id: str | None = None
    """The id of an earlier reply this one continues (`previous_response_id`), else None."""


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What the model answered."""

    text: str | None
    """The assistant's visible text; None when the turn has none (only tool calls)."""
    calls: tuple[ToolCall, ...]
    usage: Usage
    model: str
    id: str
    stop: str | None
    """The provider's finish reason."""
    refusal: str | None = None


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """One event of a stream."""

    data: str
    """The payload text (for SSE: the data lines joined with LF)."""
    event: str | None = None
    """The SSE event name, None where the API does not name events."""


@dataclass(frozen=True, slots=True)
class WireReply:
    """An answer ready for the wire."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Mock:
    """A spec-authored tool result."""

    content: JsonValue
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class ErrorText:
    """What an agent is told when flowproof refuses its request."""

    message: str
    """Starts with the reason; the SDK shows it."""
    code: str = "flowproof_divergence"


class Dialect(Protocol):
    """One model API. Instances are stateless; every method is a function of its arguments.

    A body that does not have the API's shape must not raise: report what can be read, else empty values
    (a malformed request is recorded and replayed like any other).
    """

    name: str
    """Written into cassettes; lower-case, dashes: `openai-chat`."""
    framing: Literal["sse", "ndjson"]
    """How its streams are cut into events."""
    base_url_variables: tuple[str, ...]
    """Environment variables that name this API's upstream at record, in order: ("ANTHROPIC_BASE_URL",)."""
    key_variables: tuple[str, ...]
    """Environment variables that may hold its key, in order."""

    def claims(self, method: str, path: str) -> bool:
        """True for a request that is a turn of this API. Routes by suffix, so any prefix works."""
        ...

    def authorize(self, key: str) -> Mapping[str, str]:
        """The outbound header(s) that carry the key: `{"authorization": "Bearer ..."}`."""
        ...

    def wants_stream(self, request: Request) -> bool:
        """True when the client asked for a streamed reply."""
        ...

    def read_request(self, request: Request) -> ModelRequest:
        """Read what is asked."""
        ...

    def read_reply(self, body: JsonValue) -> ModelReply:
        """Read an assembled reply. An error body gives an empty ModelReply."""
        ...

    def assemble(self, events: Sequence[StreamEvent]) -> JsonValue:
        """Fold a stream into the JSON the API would have answered without streaming.

        Keeps every unknown field it can place; events that cannot be placed stay only in the raw frames.
        None when the events hold no reply at all (an error event, a cut before the first).
        """
        ...

    def synthesise(self, body: JsonValue, request: Request) -> Sequence[StreamEvent]:
        """The stream that says the same as an assembled reply; `assemble(synthesise(x)) == x`.

        `request` tells what the client asked to see (`stream_options`).
        """
        ...

    def substitute(self, body: JsonValue, results: Mapping[tuple[str | int, ...], Mock]) -> JsonValue:
        """The request body with the results at these paths (`ToolResult.path`) replaced. Never mutates its argument."""
        ...

    def error(self, text: ErrorText) -> WireReply:
        """An error in this API's shape that its SDKs show to the user and do not retry.

        406 on Anthropic messages, 400 elsewhere, always with `x-should-retry: false`
        (measured over 60 clients; 409, 422 and 5xx are retried).
        """
        ...


@runtime_checkable
class Conversational(Protocol):
    """A dialect that can also show the conversation in a request. Others are read by their results and replies only."""

    def read_conversation(self, request: Request) -> tuple[Said, ...]:
        """Everything the model is told, in order. Never raises, whatever the body is."""
        ...


@runtime_checkable
class Faulty(Protocol):
    """A dialect that knows how its API fails: what a spec's `faults:` need. Of others a plain error is made."""

    def failure(self, status: int, message: str) -> JsonValue:
        """The body of an error the API itself would answer with, `message` in it."""
        ...

    def spoil(self, body: JsonValue) -> JsonValue:
        """The reply with every tool call's arguments broken: JSON cut in the middle. Never mutates its argument."""
        ...


@dataclass(slots=True, eq=False)
class Registry:
    """The dialects in force, tried in order. Addon files add theirs while a process runs."""

    dialects: tuple[Dialect, ...] = field(default_factory=tuple)

    def find(self, method: str, path: str) -> Dialect | None:
        """The first dialect that claims the request, else None: a side call."""
        return next((d for d in self.dialects if d.claims(method, path)), None)

    def named(self, name: str) -> Dialect | None:
        """The dialect called `name`, else None."""
        return next((d for d in self.dialects if d.name == name), None)
