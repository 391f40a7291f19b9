import pytest

from flowproof_addons.dialects.base import ModelReply, ToolCall, Usage
from flowproof_addons.live import label
from flowproof_addons.trace.model import JsonValue


def reply(text: str | None = None, *calls: tuple[str, JsonValue], refusal: str | None = None) -> ModelReply:
    made = tuple(ToolCall("", name, arguments, "") for name, arguments in calls)
    return ModelReply(text, made, Usage(), "m", "", None, refusal)


@pytest.mark.parametrize(
    ("said", "status", "line"),
    [
        (reply("On it.", ("f", {"a": "x", "b": [1]}), ("g", {})), 200, "turn 3 · d · f(a: x, b: [1]), g()"),
        (reply("It is\nbooked."), 200, 'turn 3 · d · "It is booked."'),
        (reply(refusal="I may not."), 200, 'turn 3 · d · "I may not."'),
        (reply(), 200, "turn 3 · d"),
        (None, 200, "turn 3 · d"),
        (reply(), 429, "turn 3 · d · ✗ answered 429"),
        (None, 0, "turn 3 · d · no answer: the agent hung up"),
        (reply(None, ("f", "raw text")), 200, "turn 3 · d · f(raw text)"),
    ],
)
def test_a_turn_is_told_by_what_came_of_it(said: ModelReply | None, status: int, line: str) -> None:
    assert label.turn(3, "d", said, status=status) == line


def test_long_values_and_lines_are_cut() -> None:
    long: JsonValue = {"a": "x" * 99}
    made = label.turn(1, "d", reply(None, *((("f", long),) * 9)))
    assert len(made) == 160 and made.endswith("…")
    assert "x" * 39 + "…" in made


def test_a_divergence_names_its_turn_once() -> None:
    assert label.diverged(2, "turn 2: it differs") == "✗ diverged · turn 2: it differs"
    assert label.diverged(2, "it differs") == "✗ diverged · turn 2: it differs"
    assert label.diverged(None, "side call GET /x: nothing recorded").startswith("✗ diverged · side call GET /x")


def test_an_mcp_message_names_its_server() -> None:
    assert label.mcp("fs", "tools/call", "read", {"path": "x"}, "3 ms") == "mcp fs · read(path: x) · 3 ms"
    assert label.mcp("fs", "tools/list", "", {}) == "mcp fs · tools/list"
