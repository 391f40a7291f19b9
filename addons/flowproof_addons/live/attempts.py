"""Tries the agent's client repeats: kept aside until it is known whether a later one succeeded."""

from __future__ import annotations

from dataclasses import replace

from flowproof_addons.trace.model import Attempt, Exchange

RETRIED = frozenset({408, 409, 425, 429, 529}) | frozenset(range(500, 600))
"""Statuses the official SDKs retry."""


class Attempts:
    """Failed tries by request. A success takes them along; those left over were the agent's last word."""

    def __init__(self) -> None:
        self._pending: dict[bytes, list[Exchange]] = {}

    def settle(self, key: bytes, exchange: Exchange) -> Exchange | None:
        """The exchange to keep, with the tries before it; None while it may yet be retried."""
        if exchange.reply.status in RETRIED:
            self._pending.setdefault(key, []).append(exchange)
            return None
        failed = self._pending.pop(key, [])
        return replace(exchange, attempts=tuple(_attempt(e) for e in failed))

    def unsettled(self) -> list[Exchange]:
        """Failures no success followed, each to be kept as it was: replay must fail as often as the record did."""
        left = [exchange for tries in self._pending.values() for exchange in tries]
        self._pending.clear()
        return left


def _attempt(exchange: Exchange) -> Attempt:
    return Attempt(exchange.reply.status, exchange.reply.headers, exchange.reply.body)
