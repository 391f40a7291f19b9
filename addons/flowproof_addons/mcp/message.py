"""JSON-RPC as MCP speaks it, read on a copy: the bytes are forwarded, the values are only looked at.

Wire format: https://modelcontextprotocol.io/specification (2024-11-05 to 2026-07-28, read 2026-12).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NewType

from flowproof_addons.trace import json_value
from flowproof_addons.trace.model import JsonValue

type Message = dict[str, JsonValue]
"""One JSON-RPC message."""
type RequestId = str | int | float | None
"""As sent by its owner; compared together with its type, so 1 and "1" differ."""
type Kind = Literal["request", "notification", "answer"]

Key = NewType("Key", str)
"""What two equal requests share: method and params in canonical form."""

META_VERSION = "io.modelcontextprotocol/protocolVersion"
META_SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"

LISTEN = "subscriptions/listen"
"""The one request that stays open until the agent ends it (2026-07-28)."""

LIFECYCLE = frozenset({"initialize", "server/discover"})
CATALOGUE = LIFECYCLE | {
    "ping",
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "logging/setLevel",
}
"""Requests whose number and order depend on client version and timing: answered from a table, never by position."""


def read(text: bytes | str) -> list[Message] | None:
    """The messages of one line or body: one, several for a batch, None for anything that is not JSON-RPC."""
    try:
        value = json_value.parse(text)
    except ValueError:
        return None
    items = value if isinstance(value, list) else [value]
    messages = [item for item in items if isinstance(item, dict)]
    return messages if messages and len(messages) == len(items) else None


def batched(text: bytes) -> bool:
    """Is it a batch (2025-03-26)?"""
    return text.lstrip()[:1] == b"["


def write(message: JsonValue) -> bytes:
    """Compact JSON, UTF-8, no newline inside."""
    return json_value.compact(message).encode()


def kind(message: Message) -> Kind:
    """Request, notification or answer."""
    if "method" not in message:
        return "answer"
    return "request" if "id" in message else "notification"


def method(message: Message) -> str:
    """The method; empty for an answer."""
    value = message.get("method")
    return value if isinstance(value, str) else ""


def request_id(message: Message) -> RequestId:
    """The id; None where there is none."""
    value = message.get("id")
    return value if isinstance(value, str | int | float) else None


def params(message: Message) -> Mapping[str, JsonValue]:
    """The params object; empty where there is none."""
    value = message.get("params")
    return value if isinstance(value, dict) else {}


def meta(message: Message) -> Mapping[str, JsonValue]:
    """The `_meta` of the params."""
    value = params(message).get("_meta")
    return value if isinstance(value, dict) else {}


def compared(message: Message) -> dict[str, JsonValue]:
    """The params that count: without `_meta`, where clients put random tokens, trace ids and their own version."""
    return {name: value for name, value in params(message).items() if name != "_meta"}


def protocol(message: Message) -> str:
    """The protocol version a request states: in `_meta` (2026-07-28) or in `initialize`; else empty."""
    value = meta(message).get(META_VERSION)
    if value is None and method(message) == "initialize":
        value = params(message).get("protocolVersion")
    return value if isinstance(value, str) else ""


def modern(message: Message) -> bool:
    """True for a request of the 2026-07-28 era, which carries its version in every `_meta`."""
    return META_VERSION in meta(message)


def key(method_: str, params_: Mapping[str, JsonValue], version: str = "") -> Key:
    """What a request is found by."""
    if method_ in LIFECYCLE:
        params_ = {}
    return Key(json_value.compact([method_, dict(params_), version], sort_keys=True))


def tool(method_: str, params_: Mapping[str, JsonValue]) -> str:
    """The tool of a `tools/call`; empty for other methods."""
    name = params_.get("name")
    return name if method_ == "tools/call" and isinstance(name, str) else ""


def outcome(message: Message) -> Message:
    """The part of an answer that says what happened: `{"result": …}` or `{"error": …}`."""
    return {name: message[name] for name in ("result", "error") if name in message}


def answer(id_: RequestId, said: Message) -> Message:
    """An answer to the request `id_`."""
    return {"jsonrpc": "2.0", "id": id_, **said}


def error(text: str, code: int = -32603) -> Message:
    """An outcome that clients show and do not retry."""
    return {"error": {"code": code, "message": f"flowproof: {text}"}}
