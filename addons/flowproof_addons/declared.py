"""Which of a tool's spec-authored results answers a call: one rule for both boundaries."""

from __future__ import annotations

from collections.abc import Sequence

from flowproof_addons.session import MockResult
from flowproof_addons.trace.model import JsonValue


def choose(results: Sequence[MockResult], repeat: bool, call: int, arguments: JsonValue) -> MockResult | None:
    """The result for the `call`th call (from 1) of a tool: by position, or the first whose conditions hold."""
    if not repeat:
        return results[call - 1] if call <= len(results) else None
    return next((r for r in results if _applies(r, call, arguments)), None)


def contains(value: JsonValue, subset: JsonValue) -> bool:
    """True when `value` holds `subset`: objects may have more keys, lists may not be longer, scalars are equal."""
    if isinstance(subset, dict):
        return isinstance(value, dict) and all(k in value and contains(value[k], v) for k, v in subset.items())
    if isinstance(subset, list):
        return isinstance(value, list) and len(value) == len(subset) and all(map(contains, value, subset))
    return isinstance(value, bool) is isinstance(subset, bool) and value == subset  # 1 is 1.0, but not true


def _applies(result: MockResult, call: int, arguments: JsonValue) -> bool:
    if result.call is not None and result.call != call:
        return False
    return result.where is None or contains(arguments, result.where)
