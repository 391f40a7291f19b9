"""Which spec-authored result answers which call."""

import pytest

from flowproof_addons.dialects.base import Mock, ToolCall, ToolResult
from flowproof_addons.live.mocks import Mocks, MocksExhausted
from flowproof_addons.session import MockResult, ToolMock
from flowproof_addons.trace.model import JsonValue


def call(call_id: str, name: str = "book", arguments: JsonValue = None) -> ToolCall:
    return ToolCall(call_id, name, arguments or {}, "{}")


def result(call_id: str, at: int, name: str = "book") -> ToolResult:
    return ToolResult(call_id, name, "real", False, ("messages", at, "content"))


def sequence(*contents: JsonValue) -> Mocks:
    return Mocks([ToolMock(name="book", results=tuple(MockResult(content=c) for c in contents), repeat=False)])


def test_one_result_answers_every_call() -> None:
    mocks = Mocks([ToolMock(name="book", results=(MockResult(content="fixed", is_error=True),))])
    replaced = mocks.replacements([result("a", 1), result("b", 2)])
    assert replaced == {
        ("messages", 1, "content"): Mock("fixed", True),
        ("messages", 2, "content"): Mock("fixed", True),
    }


def test_other_tools_are_left_alone() -> None:
    assert sequence("x").replacements([result("a", 1, name="search")]) == {}


def test_results_are_given_in_the_order_the_model_decided_not_the_order_they_arrive() -> None:
    mocks = sequence("first", "second")
    mocks.decided([call("a"), call("b")])
    replaced = mocks.replacements([result("b", 1), result("a", 2)])
    assert [replaced["messages", 1, "content"].content, replaced["messages", 2, "content"].content] == [
        "second",
        "first",
    ]


def test_a_history_sent_again_keeps_its_results() -> None:
    mocks = sequence("first", "second")
    mocks.decided([call("a")])
    once = mocks.replacements([result("a", 1)])
    mocks.decided([call("b")])
    again = mocks.replacements([result("a", 1), result("b", 3)])
    assert again["messages", 1, "content"] == once["messages", 1, "content"] == Mock("first")
    assert again["messages", 3, "content"] == Mock("second")


def test_one_call_more_than_results_is_an_error_that_counts() -> None:
    mocks = sequence("only")
    with pytest.raises(MocksExhausted, match=r"'book': call 2 has no result"):
        mocks.replacements([result("a", 1), result("b", 2)])


def test_a_provider_that_repeats_an_id_still_has_two_calls() -> None:
    mocks = sequence("first", "second")
    mocks.decided([call("same")])
    mocks.decided([call("same")])
    replaced = mocks.replacements([result("same", 1), result("same", 3)])
    assert [m.content for m in replaced.values()] == ["first", "second"]


def test_a_result_that_names_no_tool_is_known_by_its_call() -> None:
    mocks = sequence("fixed")
    mocks.decided([call("a")])
    assert mocks.replacements([result("a", 0, name="")]) == {("messages", 0, "content"): Mock("fixed")}


def test_cases_choose_by_call_and_by_arguments() -> None:
    cases = (MockResult(content="r1", where={"id": "R-1"}), MockResult(content="second", call=2))
    mocks = Mocks([ToolMock(name="book", results=cases)])
    mocks.decided([call("a", arguments={"id": "R-1", "x": 1}), call("b"), call("c")])
    replaced = mocks.replacements([result("a", 1), result("b", 2), result("c", 3)])
    assert {path[1]: mock.content for path, mock in replaced.items()} == {1: "r1", 2: "second"}
