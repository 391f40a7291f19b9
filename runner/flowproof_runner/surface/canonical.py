"""An MCP server's catalogue against its snapshot, in a form in which only meaning counts."""

from __future__ import annotations

import json
from collections.abc import Sequence

from flowproof_addons.trace.model import JsonValue

_SETS = frozenset({"required", "enum", "type"})
_SCHEMA_MAPS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_SCHEMA_LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_SCHEMAS = frozenset(
    {"items", "additionalProperties", "contains", "not", "if", "then", "else", "propertyNames", "unevaluatedItems",
     "unevaluatedProperties", "contentSchema", "additionalItems"}
)  # fmt: skip


def drifted(snapshot: JsonValue, tools: Sequence[JsonValue]) -> tuple[str, ...]:
    """Names of tools that were added, removed, changed or listed twice, sorted."""
    before = _by_name(snapshot if isinstance(snapshot, list) else [])
    after = _by_name(tools)
    names = before.keys() | after.keys()
    return tuple(sorted(n for n in names if before.get(n) != after.get(n) or len(before[n]) > 1))


def same_capabilities(snapshot: JsonValue, seen: JsonValue) -> bool:
    """True when both say the same; the order of keys does not count."""
    return _text(snapshot) == _text(seen)


def canonical_tool(tool: JsonValue) -> JsonValue:
    """A tool with sets sorted where a schema means a set."""
    if not isinstance(tool, dict):
        return tool
    return {k: canonical_schema(v) if k in ("inputSchema", "outputSchema") else v for k, v in sorted(tool.items())}


def canonical_schema(schema: JsonValue) -> JsonValue:
    """A JSON Schema whose `required`, `enum` and `type` lists are sorted, at schema positions only."""
    if not isinstance(schema, dict):
        return schema
    return {name: _keyword(name, value) for name, value in sorted(schema.items())}


def _keyword(name: str, value: JsonValue) -> JsonValue:
    if name in _SETS and isinstance(value, list):
        return sorted(value, key=_text)
    if name in _SCHEMA_MAPS and isinstance(value, dict):
        return {key: canonical_schema(inner) for key, inner in sorted(value.items())}
    if name in _SCHEMA_LISTS and isinstance(value, list):
        return [canonical_schema(inner) for inner in value]
    return canonical_schema(value) if name in _SCHEMAS else value


def _by_name(tools: Sequence[JsonValue]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for tool in tools:
        name = tool.get("name") if isinstance(tool, dict) else None
        found.setdefault(str(name), []).append(_text(canonical_tool(tool)))
    return found


def _text(value: JsonValue) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
