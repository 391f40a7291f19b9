"""Headers as they stand in an entry: what differs from the headers of the entry it continues."""

from __future__ import annotations

from collections.abc import Mapping

from flowproof_addons.trace.model import JsonValue
from flowproof_addons.trace.shape import Node


def write(headers: Mapping[str, str], base: Mapping[str, str]) -> dict[str, JsonValue]:
    """What is not as in `base`; null for a header that is gone."""
    changed: dict[str, JsonValue] = {name: headers[name] for name in sorted(headers) if base.get(name) != headers[name]}
    return {**changed, **{name: None for name in sorted(base) if name not in headers}}


def read(node: Node | None, base: Mapping[str, str]) -> dict[str, str]:
    """The headers that `write` stored against `base`. Raises ShapeError."""
    headers = dict(base)
    for name, value in node.members().items() if node else ():
        if value.value is None:
            headers.pop(name, None)
        else:
            headers[name] = value.text()
    return headers
