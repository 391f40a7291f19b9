"""The HTTP side of a refusal: what makes SDKs show it and not try again."""

from __future__ import annotations

from flowproof_addons.dialects import raw
from flowproof_addons.dialects.base import WireReply
from flowproof_addons.trace.model import JsonValue

_HEADERS = {"content-type": "application/json", "x-should-retry": "false"}


def reply(status: int, body: JsonValue) -> WireReply:
    """An answer with the error body, and the header that official SDKs obey."""
    return WireReply(status, dict(_HEADERS), raw.compact(body).encode())
