"""What crossed the boundary, counted for the reports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from flowproof_addons.dialects.base import ModelReply, Registry, Usage
from flowproof_addons.trace.model import Exchange, JsonBody
from flowproof_runner.result import Counts


def tally(exchanges: Sequence[Exchange], registry: Registry, recorded: Sequence[Exchange] | None) -> Counts:
    """Turns, side calls, tool calls the model asked for, tokens. `recorded` is the cassette at replay."""
    replies = [reply for exchange in exchanges if (reply := read(exchange, registry)) is not None]
    return Counts(
        turns=sum(exchange.is_turn for exchange in exchanges),
        recorded_turns=None if recorded is None else sum(exchange.is_turn for exchange in recorded),
        side_calls=sum(not exchange.is_turn for exchange in exchanges),
        tool_calls=sum(len(reply.calls) for reply in replies),
        input_tokens=_sum(reply.usage.input for reply in replies),
        output_tokens=_sum(reply.usage.output for reply in replies),
    )


def read(exchange: Exchange, registry: Registry) -> ModelReply | None:
    """A turn's reply as its dialect reads it; None for a side call, a divergence or a body that is no JSON."""
    dialect = registry.named(exchange.dialect) if exchange.dialect else None
    if dialect is None or not isinstance(exchange.reply.body, JsonBody):
        return None
    return dialect.read_reply(exchange.reply.body.value)


def tokens(usage: Usage) -> str:
    """`812 in, 31 out`, or nothing where the provider said nothing."""
    parts = [(usage.input, "in"), (usage.output, "out")]
    return ", ".join(f"{count:,} {name}" for count, name in parts if count is not None)


def _sum(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
