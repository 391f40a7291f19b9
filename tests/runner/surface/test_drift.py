"""Which kind of change each difference between two surfaces is."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.surface.drift import drift
from flowproof_runner.surface.surface import Surface

TOOL: dict[str, Any] = {
    "name": "read",
    "description": "Read a file.",
    "annotations": {"readOnlyHint": True},
    "inputSchema": {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Where."},
            "mode": {"enum": ["text", "binary"]},
            "head": {"type": "integer"},
        },
        "required": ["path", "mode"],
    },
    "outputSchema": {"type": "object"},
}


def surface(tool: dict[str, Any] | None = TOOL, **more: Any) -> Surface:
    tools: tuple[JsonValue, ...] = () if tool is None else (tool,)
    return Surface(
        **{
            "server": {"name": "files"},
            "protocol": "2025-11-25",
            "capabilities": {"tools": {}},
            "discovered": {},
            "tools": tools,
            **more,
        }
    )


def changed(change: Callable[[dict[str, Any]], object]) -> Surface:
    tool = copy.deepcopy(TOOL)
    change(tool)
    return surface(tool)


def arguments(tool: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = tool["inputSchema"]["properties"]
    return found


@pytest.mark.parametrize(
    ("after", "said"),
    [
        (surface(None), "breaking   tool read: is gone"),
        (changed(lambda t: arguments(t).pop("head")), "breaking   tool read, argument head: is gone"),
        (
            changed(lambda t: arguments(t)["head"].update(type="string")),
            'breaking   tool read, argument head: {"type":"integer"} -> {"type":"string"}',
        ),
        (
            changed(lambda t: t["inputSchema"]["required"].append("head")),
            "breaking   tool read, argument head: is required now",
        ),
        (
            changed(lambda t: arguments(t)["mode"].update(enum=["text"])),
            'breaking   tool read, argument mode: {"enum":["binary","text"]} -> {"enum":["text"]}',
        ),
        (
            changed(lambda t: t["inputSchema"].update(additionalProperties=False)),
            "breaking   tool read: another input schema",
        ),
        (changed(lambda t: t.update(description="Read any file.")), "prompt     tool read: another description"),
        (
            changed(lambda t: arguments(t)["path"].update(description="A path.")),
            "prompt     tool read, argument path: another description",
        ),
        (surface(instructions="Be quick."), "prompt     instructions: other words"),
        (
            changed(lambda t: t["annotations"].update(readOnlyHint=False)),
            'behaviour  tool read: annotations {"readOnlyHint":true} -> {"readOnlyHint":false}',
        ),
        (
            surface(capabilities={"tools": {"listChanged": True}}),
            'behaviour  capability tools: {} -> {"listChanged":true}',
        ),
        (surface(capabilities={}), "breaking   capability tools: is gone"),
        (changed(lambda t: t.pop("outputSchema")), "result     tool read: another output schema"),
        (
            changed(lambda t: arguments(t).update(tail={"type": "integer"})),
            "compatible tool read, argument tail: is new, optional",
        ),
        (
            changed(lambda t: t["inputSchema"]["required"].remove("mode")),
            "compatible tool read, argument mode: is no longer required",
        ),
        (
            changed(lambda t: arguments(t)["mode"]["enum"].append("lines")),
            "compatible tool read, argument mode: accepts more values",
        ),
        (surface(tools=(TOOL, {"name": "write"})), "compatible tool write: is new"),
        (changed(lambda t: t.update(icons=[])), "compatible tool read: another icons"),
        (surface(discovered={"tools": {}}), "compatible capability tools: is new"),
    ],
)
def test_each_change_is_of_its_kind(after: Surface, said: str) -> None:
    assert [str(change) for change in drift(surface(), after)] == [said]


def test_a_new_required_argument_is_breaking() -> None:
    def change(tool: dict[str, Any]) -> None:
        arguments(tool)["why"] = {"type": "string"}
        tool["inputSchema"]["required"].append("why")

    assert [str(c) for c in drift(surface(), changed(change))] == [
        "breaking   tool read, argument why: is new and required"
    ]


def test_the_worst_change_comes_first() -> None:
    def change(tool: dict[str, Any]) -> None:
        tool["description"] = "x"
        arguments(tool)["tail"] = {}
        del arguments(tool)["head"]

    assert [c.kind for c in drift(surface(), changed(change))] == ["breaking", "prompt", "compatible"]


def test_order_and_what_the_snapshot_does_not_hold_make_no_difference() -> None:
    def reorder(tool: dict[str, Any]) -> None:
        tool["inputSchema"]["required"].reverse()
        arguments(tool)["mode"]["enum"].reverse()

    assert drift(surface(), changed(reorder)) == ()
    bare = Surface(server=None, protocol="", capabilities=None, tools=(TOOL,))
    assert drift(bare, surface(instructions="new")) == ()


def test_prompts_and_resources_are_compared_too() -> None:
    prompt: JsonValue = {"name": "greet", "arguments": [{"name": "who"}]}
    more: JsonValue = {"name": "greet", "arguments": [{"name": "how", "required": True}]}
    resource: JsonValue = {"uri": "note://1", "mimeType": "text/plain"}
    before = surface(prompts=(prompt,), resources=(resource,))
    after = surface(prompts=(more,), resources=({"uri": "note://1", "mimeType": "text/html"},))
    assert [str(change) for change in drift(before, after)] == [
        "breaking   prompt greet, argument who: is gone",
        "breaking   prompt greet, argument how: is new and required",
        "result     resource note://1: text/plain is text/html now",
    ]
