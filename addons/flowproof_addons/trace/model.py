"""The values a trace is made of. A cassette is a trace that was kept.

Bodies are kept as *values*, not bytes: what the wire said is recovered exactly where it matters (number
literals, big integers, raw frames of a stream), and the digest of the bytes tells "bytes equal" from "JSON equal".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

type JsonValue = bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None
"""Raw JSON, as `trace.json_value.parse` reads it (floats keep their literal)."""

type Phase = Literal["record", "replay"]


@dataclass(frozen=True, slots=True)
class JsonBody:
    """A body that is one JSON document."""

    value: JsonValue
    source: str | None = None
    """The text as the upstream wrote it, where `compact(value)` would differ: replies are served as written.

    None for requests, which are compared as values. Whoever changes the value must drop it.
    """


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a multipart body; the boundary string is not kept, it is random."""

    headers: tuple[tuple[str, str], ...]
    """Lower-case names, in order, without content-length."""
    data: bytes


@dataclass(frozen=True, slots=True)
class MultipartBody:
    """A `multipart/*` body."""

    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class BytesBody:
    """Any other body, the empty one included."""

    data: bytes


type Body = JsonBody | MultipartBody | BytesBody


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request of the agent, with Content-Encoding undone."""

    method: str
    """Upper case."""
    path: str
    """As the agent sent it, with any prefix, without the query: `/v1/messages`."""
    query: str
    """The raw query string, without `?`; empty when there is none."""
    body: Body
    headers: Mapping[str, str] = field(default_factory=dict)
    """The stored allow-list only (user-agent, *-beta, *-version, content-type), lower-case names. For diagnosis."""
    digest: str = ""
    """SHA-256 (hex) of the body's bytes after Content-Encoding was undone."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What the upstream answered."""

    status: int
    body: Body
    """For a stream: the provider's own JSON, assembled by the dialect; `BytesBody` where no dialect can."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Everything but hop-by-hop, length/encoding, cookies and credentials; lower-case names."""
    frames: tuple[bytes, ...] | None = None
    """The stream as it was recorded, one element per frame, separators included: `b"".join(frames)` is the wire.

    None when the reply was not streamed.
    """
    cut: bool = False
    """The upstream closed before the reply's own end; replayed as a cut too."""

    @property
    def streamed(self) -> bool:
        """True when the upstream answered with a stream."""
        return self.frames is not None


@dataclass(frozen=True, slots=True)
class Attempt:
    """A try the agent's client retried: answered 408/409/429/5xx (or cut), then asked again with an equal request."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Body = BytesBody(b"")


@dataclass(frozen=True, slots=True)
class Fault:
    """What a spec's `faults:` did to a model request, which is then no turn."""

    label: str
    """Which entry of the spec: `turn 2: answer 429`."""
    turn: int
    """The turn it stood in for, from 1."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its reply: a *turn* when a dialect claims it, else a *side call*."""

    request: Request
    reply: Reply
    dialect: str | None = None
    """The dialect's name for a turn; None for a side call."""
    attempts: tuple[Attempt, ...] = ()
    served_from: int | None = None
    """In a replayed trace: index of the recording (in `Trace.exchanges`) that answered."""
    equality: Literal["bytes", "json", "rules"] | None = None
    """In a replayed trace: how the request equalled its recording."""
    rules: tuple[str, ...] = ()
    """In a replayed trace: the names of the rules that fired."""
    divergence: JsonValue = None
    """In a replayed trace: the divergence report of a request that no recording answers (`matching.divergence`)."""
    extra: Mapping[str, JsonValue] = field(default_factory=dict)
    """Members of its entry in the file that this version does not know: kept as they are, never dropped."""
    fault: Fault | None = None
    """The fault it was answered with; such exchanges stand in `Trace.faulted`."""
    user_turn: int | None = None
    """In a conversation: the user turn it belongs to, from 1."""

    @property
    def is_turn(self) -> bool:
        """True when a dialect claimed the request."""
        return self.dialect is not None


@dataclass(frozen=True, slots=True)
class Trace:
    """Everything one run's boundary saw, in the order the requests arrived."""

    recorded_by: str
    """`flowproof 0.1.0`."""
    recorded_at: str
    """RFC 3339, UTC, seconds."""
    spec: str
    """The spec's digest: SHA-256 hex of its text with LF line ends."""
    exchanges: tuple[Exchange, ...] = ()
    mcp: Mapping[str, JsonValue] = field(default_factory=dict)
    """Per MCP server: its lane, in the format of `flowproof_addons.mcp`."""
    mocks: JsonValue = None
    """The `tools:` results in force when this was recorded."""
    extra: Mapping[str, JsonValue] = field(default_factory=dict)
    """Other top-level members (egress, ...): kept as they are, never dropped."""
    faulted: tuple[Exchange, ...] = ()
    """Requests answered with a fault of the spec's, in order; each has its `fault`. They are no turns."""

    @property
    def turns(self) -> tuple[Exchange, ...]:
        """The model turns, in order of arrival."""
        return tuple(exchange for exchange in self.exchanges if exchange.is_turn)
