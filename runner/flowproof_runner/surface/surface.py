"""Everything an MCP server shows a client before it does anything: what a snapshot keeps."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from flowproof_addons import FlowproofError
from flowproof_addons.trace.model import JsonValue
from flowproof_runner.program import writing


class SnapshotError(FlowproofError):
    """A snapshot cannot be read or written."""


@dataclass(frozen=True, slots=True)
class Surface:
    """A server's catalogue, lists in the order of their names so that only meaning makes a difference."""

    server: JsonValue
    """Name and version, as it calls itself."""
    protocol: str
    capabilities: JsonValue
    instructions: str = ""
    tools: tuple[JsonValue, ...] = ()
    prompts: tuple[JsonValue, ...] = ()
    resources: tuple[JsonValue, ...] = ()
    resource_templates: tuple[JsonValue, ...] = field(default=())
    discovered: JsonValue = None
    """Capabilities as `server/discover` tells them (2026-07-28), of a server that was asked both ways."""

    def to_json(self) -> dict[str, JsonValue]:
        """As it stands in a snapshot file."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}


type List = Callable[[str, str], tuple[JsonValue, ...]]
"""(method, member of its result) -> all items of all pages."""


def surface(opening: Mapping[str, JsonValue], protocol: str, listed: List) -> Surface:
    """A server's surface: its answer to the opening request, and its lists, of which it has those it says it has."""
    capabilities = opening.get("capabilities")
    offers = capabilities if isinstance(capabilities, dict) else {}
    instructions = opening.get("instructions")
    return Surface(
        server=opening.get("serverInfo"),
        protocol=protocol,
        capabilities=offers,
        instructions=instructions if isinstance(instructions, str) else "",
        tools=_sorted(listed("tools/list", "tools"), "name") if "tools" in offers else (),
        prompts=_sorted(listed("prompts/list", "prompts"), "name") if "prompts" in offers else (),
        resources=_sorted(listed("resources/list", "resources"), "uri") if "resources" in offers else (),
        resource_templates=_sorted(listed("resources/templates/list", "resourceTemplates"), "uriTemplate")
        if "resources" in offers
        else (),
    )


def load(path: Path) -> Surface:
    """A snapshot file: ours, or a bare list of tools. Raises SnapshotError if it is neither."""
    try:
        value: JsonValue = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise SnapshotError(
            f"{path}: the snapshot cannot be read: {error}; write it with `flowproof mcp snapshot`"
        ) from error
    if isinstance(value, list):
        value = {"tools": value}
    if not isinstance(value, dict):
        raise SnapshotError(f"{path}: is no snapshot: a list of tools, or an object with tools and capabilities")
    protocol, instructions = value.get("protocol"), value.get("instructions")
    return Surface(
        server=value.get("server"),
        protocol=protocol if isinstance(protocol, str) else "",
        capabilities=value.get("capabilities"),
        instructions=instructions if isinstance(instructions, str) else "",
        tools=_items(value.get("tools")),
        prompts=_items(value.get("prompts")),
        resources=_items(value.get("resources")),
        resource_templates=_items(value.get("resource_templates")),
        discovered=value.get("discovered"),
    )


def save(path: Path, found: Surface) -> None:
    """Write a snapshot file. Raises WriteError."""
    writing.write_json(path, found.to_json())


def _items(value: JsonValue) -> tuple[JsonValue, ...]:
    return tuple(value) if isinstance(value, list) else ()


def _sorted(items: tuple[JsonValue, ...], by: str) -> tuple[JsonValue, ...]:
    return tuple(sorted(items, key=lambda item: str(item.get(by)) if isinstance(item, dict) else ""))
