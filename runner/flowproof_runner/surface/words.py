"""A server's surface in lines for a person."""

from __future__ import annotations

from collections.abc import Iterator

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.surface.surface import Surface

_WIDTH = 100


def lines(found: Surface) -> Iterator[str]:
    """What the server is and offers."""
    yield f"{_server(found.server)} · protocol {found.protocol}"
    capabilities = ", ".join(sorted(found.capabilities)) if isinstance(found.capabilities, dict) else ""
    yield f"capabilities: {capabilities or 'none'}"
    if found.instructions:
        yield f"instructions: {_short(found.instructions)}"
    for title, items, named in (
        ("tools", found.tools, "name"),
        ("prompts", found.prompts, "name"),
        ("resources", found.resources, "uri"),
        ("resource templates", found.resource_templates, "uriTemplate"),
    ):
        if items:
            yield ""
            yield f"{title} ({len(items)})"
            yield from (_item(item, named) for item in items)


def _server(info: JsonValue) -> str:
    if not isinstance(info, dict):
        return "a server without a name"
    return f"{info.get('name')} {info.get('version', '')}".strip()


def _item(item: JsonValue, named: str) -> str:
    if not isinstance(item, dict):
        return "  ?"
    described = item.get("description")
    words = f"  {_short(described)}" if isinstance(described, str) and described else ""
    return f"  {item.get(named)}{_arguments(item.get('inputSchema'))}{_hints(item.get('annotations'))}{words}"


def _arguments(schema: JsonValue) -> str:
    """`(path, head?: integer)`: optional ones with a question mark."""
    if not isinstance(schema, dict):
        return ""
    properties, required = schema.get("properties"), schema.get("required")
    needed = required if isinstance(required, list) else []
    shown = [
        f"{name}{'' if name in needed else '?'}{_type(each)}"
        for name, each in (properties.items() if isinstance(properties, dict) else ())
    ]
    return f"({', '.join(shown)})"


def _type(schema: JsonValue) -> str:
    kind = schema.get("type") if isinstance(schema, dict) else None
    return f": {kind}" if isinstance(kind, str) and kind != "string" else ""


def _hints(annotations: JsonValue) -> str:
    if not isinstance(annotations, dict):
        return ""
    told = {"readOnlyHint": "read-only", "destructiveHint": "destructive"}
    hints = [word for name, word in told.items() if annotations.get(name) is True]
    return f" [{', '.join(hints)}]" if hints else ""


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1]}…"
