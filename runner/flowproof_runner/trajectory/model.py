"""A run reduced to what it did and what it was told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from flowproof_addons.trace.model import Exchange, JsonBody, JsonValue
from flowproof_runner.evidence.conclusion import reply
from flowproof_runner.evidence.model import Asked, Decided, Discovered, Dispatched, Evidence
from flowproof_runner.records.story import Told

_CONVERSATION = frozenset(
    "messages input contents prompt system instructions systemInstruction system_instruction tools model"
    " stream stream_options previous_response_id".split()
)
"""Members of a request that are told elsewhere, or are transport."""
_OWN = frozenset({"assistant", "model", "tool", "function"})
"""Who speaks in a conversation without telling the agent's model anything from outside it."""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call."""

    tool: str
    arguments: JsonValue


@dataclass(frozen=True, slots=True)
class Prompt:
    """Something the model was told."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One run."""

    calls: tuple[Call, ...] = ()
    """In the order the model asked for them; those that no model asked for, in the order they were dispatched."""
    reply: str | None = None
    prompts: tuple[Prompt, ...] = ()
    models: tuple[str, ...] = ()
    """Each once."""
    tools: Mapping[str, JsonValue] = field(default_factory=dict)
    """Every tool offered to a model, with its definition where one is found."""
    servers: Mapping[str, Mapping[str, JsonValue]] = field(default_factory=dict)
    """Per MCP server, the tools it says it has."""
    settings: JsonValue = None
    """What else the first request carried: temperature, limits, formats."""


def read(told: Told) -> Trajectory:
    """The trajectory of a trace that has been read."""
    evidence = told.evidence
    return Trajectory(
        calls=tuple(_calls(evidence)),
        reply=reply(evidence),
        prompts=tuple(
            Prompt(item.role, item.text)
            for items in told.heard.values()
            for item in items
            if item.text and item.role not in _OWN
        ),
        models=tuple(dict.fromkeys(event.model for event in evidence.of(Asked))),
        tools=_offered(evidence, told.trace.turns),
        servers={event.lane: dict(_named(event.tools)) for event in evidence.of(Discovered)},
        settings=_settings(told.trace.turns),
    )


def _calls(evidence: Evidence) -> Iterator[Call]:
    decided = {event.call for event in evidence.of(Decided)}
    for event in evidence.events:
        if isinstance(event, Decided) or (isinstance(event, Dispatched) and event.call not in decided):
            yield Call(event.tool, event.arguments)


def _offered(evidence: Evidence, turns: tuple[Exchange, ...]) -> dict[str, JsonValue]:
    names: dict[str, JsonValue] = {name: None for event in evidence.of(Asked) for name in event.tools}
    for turn in turns:
        tools = _members(turn).get("tools")
        found = dict(_named(tuple(tools))) if isinstance(tools, list) else {}
        names |= {name: definition for name, definition in found.items() if name in names}
    return names


def _named(tools: tuple[JsonValue, ...]) -> Iterator[tuple[str, JsonValue]]:
    """Definitions by name; Chat Completions wraps each in `function`."""
    for tool in tools:
        inner = tool.get("function", tool) if isinstance(tool, dict) else None
        if isinstance(inner, dict) and isinstance(inner.get("name"), str):
            yield str(inner["name"]), inner


def _settings(turns: tuple[Exchange, ...]) -> JsonValue:
    return {name: value for turn in turns[:1] for name, value in _members(turn).items() if name not in _CONVERSATION}


def _members(turn: Exchange) -> Mapping[str, JsonValue]:
    body = turn.request.body
    return body.value if isinstance(body, JsonBody) and isinstance(body.value, dict) else {}
