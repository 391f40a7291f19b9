"""Who answers an adapter's tool calls: fixtures, MCP servers, or code of the user's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import Final, Protocol

from flowproof_addons import FlowproofError
from flowproof_addons.trace.model import JsonValue


class Unset(Enum):
    """Nothing was given, which null is not."""

    UNSET = "unset"


UNSET: Final = Unset.UNSET


class BackendError(FlowproofError):
    """A backend could not start, answer or stop; the run cannot go on."""


class NoSuchTool(BackendError):
    """Nothing answers this tool."""


@dataclass(frozen=True, slots=True)
class Discovery:
    """What a server said it offers: the only evidence a backend may give at start."""

    server: str
    capabilities: JsonValue
    tools: tuple[JsonValue, ...]
    duration_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """A backend's answer to one call."""

    result: JsonValue
    """What the adapter is told."""
    evidence_result: JsonValue | Unset = UNSET
    """What is recorded and judged in its place, where the result must not be kept."""
    is_error: bool = False
    """An ordinary failure of the tool; a failure of the backend is raised."""
    source: str = "custom"
    server: str = ""
    """The MCP server that answered, whose limits then hold."""
    duration_ms: float | None = None
    size_bytes: int | None = None
    fixture_miss: bool = False


@dataclass(frozen=True, slots=True)
class BackendContext:
    """What a backend may know of the run, read-only all the way down."""

    scenario: str
    fixtures: Mapping[str, JsonValue] = field(default_factory=lambda: MappingProxyType({}))
    timeout_s: float = 30.0


class ToolBackend(Protocol):
    """Answers tool calls. One run uses one backend; calls come one after the other."""

    def start(self, context: BackendContext) -> Sequence[Discovery]:
        """Connect. Whatever goes wrong is raised, and `close` is called all the same."""
        ...

    def call(self, tool: str, arguments: Mapping[str, JsonValue]) -> Answer:
        """Answer one call that was authorized. Raises if the backend itself failed: the run ends there."""
        ...

    def close(self) -> None:
        """Release everything; called exactly once, also after a failed start."""
        ...


def frozen(value: JsonValue) -> JsonValue:
    """A copy no backend can use to change what is judged: tuples and read-only mappings in place of lists and dicts.

    The type is a white lie: it reads like the value it copies.
    """
    if isinstance(value, dict):
        return MappingProxyType({key: frozen(inner) for key, inner in value.items()})  # type: ignore[return-value]
    if isinstance(value, list):
        return tuple(map(frozen, value))  # type: ignore[return-value]
    return value
