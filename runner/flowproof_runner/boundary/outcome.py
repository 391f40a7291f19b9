"""What a session came to at the boundary, as the control socket tells it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flowproof_addons.trace.model import Exchange, JsonValue


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a session's boundary saw and found."""

    exchanges: tuple[Exchange, ...]
    turns: int
    """Model requests that arrived."""
    side_calls: int
    divergences: tuple[Mapping[str, JsonValue], ...]
    findings: tuple[Mapping[str, JsonValue], ...]
    """`{id, message, ...}` of checks the boundary itself makes."""
    unserved: tuple[int, ...]
    """Indexes, in the cassette, of recordings nothing asked for."""
    problems: tuple[str, ...]
    """Our own or the machine's failures: the verdict is `error`."""
    pins: Mapping[str, int]
    """How often each pin was needed, by name."""
    unused_pins: tuple[str, ...]
    """Pins that found nothing to hold."""
    hints: tuple[str, ...]
    """At record: what another day or directory would change, and the pin for it."""
    redacted: tuple[str, ...]
    """Names of secrets that crossed and were written as placeholders."""
    lanes: Mapping[str, JsonValue]
    """Per MCP server: what its lane recorded and found."""
    unsettled: str = ""
    """Of a conversation: why its last user turn had not settled."""
    faulted: tuple[Exchange, ...] = ()
    """Model requests answered with a fault: no turns."""
    faults: tuple[Mapping[str, JsonValue], ...] = ()
    """Per fault of the spec: `{label, times, fired, remarks}`."""
    policy: tuple[Mapping[str, JsonValue], ...] = ()
    """What was answered without looking at a recording, HEAD and WebSockets: `{method, path, client, status}`."""


def outcome_of(found: Mapping[str, JsonValue], exchanges: Sequence[Exchange]) -> Outcome:
    """From the boundary's answer to `close` and the session's journal."""
    return Outcome(
        exchanges=tuple(exchange for exchange in exchanges if exchange.fault is None),
        faulted=tuple(exchange for exchange in exchanges if exchange.fault is not None),
        faults=objects(found["faults"]),
        turns=integer(found["turns"]),
        side_calls=integer(found["side_calls"]),
        policy=objects(found["policy"]),
        divergences=objects(found["divergences"]),
        findings=objects(found["findings"]),
        unserved=tuple(integer(i) for i in items(found["unserved"])),
        problems=tuple(str(p) for p in items(found["problems"])),
        pins={k: integer(v) for k, v in members(found["pins"]).items()},
        unused_pins=tuple(str(n) for n in items(found["unused_pins"])),
        hints=tuple(str(h) for h in items(found["hints"])),
        redacted=tuple(str(n) for n in items(found["redacted"])),
        lanes=members(found["lanes"]),
        unsettled=str(found["unsettled"]),
    )


def integer(value: JsonValue) -> int:
    """A number, as the protocol has it there."""
    assert isinstance(value, int)
    return value


def items(value: JsonValue) -> list[JsonValue]:
    """A list."""
    assert isinstance(value, list)
    return value


def members(value: JsonValue) -> dict[str, JsonValue]:
    """An object."""
    assert isinstance(value, dict)
    return value


def strings(value: JsonValue) -> dict[str, str]:
    """An object of strings."""
    return {k: str(v) for k, v in members(value).items()}


def objects(value: JsonValue) -> tuple[Mapping[str, JsonValue], ...]:
    """A list of objects."""
    return tuple(members(v) for v in items(value))
