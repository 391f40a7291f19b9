"""The boundary is told exactly what the spec says."""

from __future__ import annotations

from collections.abc import Callable

from flowproof_addons.session import MockResult, Pin, ToolMock
from flowproof_runner.spec.file import LoadedSpec
from flowproof_runner.spec.session import pins, tool_mocks

type Load = Callable[..., LoadedSpec]


def test_tool_mocks(spec: Load) -> None:
    loaded = spec(
        """\
tools:
- { name: one, result: { ok: true } }
- { name: null_result, result: ~ }
- { name: failing, results: [ a, b ], is_error: true }
- { name: by_case, cases: [ { where: { x: 1 }, result: r }, { call: 2, result: s, is_error: true } ] }
- { name: declared }
"""
    )
    assert tool_mocks(loaded.spec) == (
        ToolMock(name="one", results=(MockResult(content={"ok": True}),)),
        ToolMock(name="null_result", results=(MockResult(content=None),)),
        ToolMock(
            name="failing",
            results=(MockResult(content="a", is_error=True), MockResult(content="b", is_error=True)),
            repeat=False,
        ),
        ToolMock(
            name="by_case",
            results=(MockResult(content="r", where={"x": 1}), MockResult(content="s", is_error=True, call=2)),
        ),
    )


def test_pins(spec: Load) -> None:
    loaded = spec(
        """\
pins:
- { at: "messages[0].content", match: 'Today is (\\d{4})', why: the client dates its prompt }
- { kind: date, name: today }
- { at: items, unordered: true }
- { at: user }
"""
    )
    assert pins(loaded.spec.pins) == (
        Pin(
            at="messages[0].content",
            match=r"Today is (\d{4})",
            why="the client dates its prompt",
            name=r"messages[0].content: /Today is (\d{4})/",
        ),
        Pin(kind="date", name="today"),
        Pin(at="items", kind="unordered", name="items: as a set"),
        Pin(at="user", name="user: any value"),
    )
