"""The collection a `for:` goes over."""

from __future__ import annotations

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.expectations.contract.language.explain import line
from flowproof_runner.expectations.contract.model import Each
from flowproof_runner.expectations.contract.ruling import Place, found, unread
from flowproof_runner.expectations.contract.values import key
from flowproof_runner.findings import Finding


def elements(expectation: Each, place: Place) -> tuple[tuple[JsonValue, ...], Finding | None]:
    """The elements of all observed collections, each once; or why there is no collection."""
    seen = place.resolver.sources.collection(expectation.over, place.env)
    unique: dict[object, JsonValue] = {}
    for bag in seen.bags:
        inside = bag.elements()
        if inside is None:
            message = f"what is gone over is not an array: {line(expectation)}"
            return (), found(expectation, "each.not_a_collection", message, seq=bag.seq)
        unique |= {key(value): value for value in inside}
    if not seen.bags:
        message = f"nothing to go over, {unread(seen.gaps)}: {line(expectation)}"
        return (), found(expectation, "each.unresolved", message)
    return tuple(unique.values()), None
