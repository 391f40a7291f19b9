"""Parallel calls turned round for the agent, and back again in what it sends."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from flowproof_addons.dialects.registry import default
from flowproof_addons.live.reordered import Reordered
from flowproof_addons.trace.model import JsonBody, JsonValue, Reply, Request


@dataclass(frozen=True, slots=True)
class Case:
    dialect: str
    calls: tuple[JsonValue, ...]
    """As they stand in a reply, and in the requests that repeat it."""

    def reply(self, calls: tuple[JsonValue, ...]) -> JsonValue:
        """A reply with these calls."""
        items: list[JsonValue] = [*calls]
        text: JsonValue = {"type": "text", "text": "both"}
        match self.dialect:
            case "openai-chat":
                return {"choices": [{"index": 0, "message": {"role": "assistant", "tool_calls": items}}]}
            case "openai-responses":
                return {"output": [{"type": "reasoning", "id": "rs_1", "summary": []}, *items]}
            case "anthropic-messages":
                return {"role": "assistant", "content": [text, *items]}
            case "gemini":
                return {"candidates": [{"content": {"role": "model", "parts": [{"text": "both"}, *items]}}]}
            case _:
                return {"message": {"role": "assistant", "content": "", "tool_calls": items}, "done": True}


CASES = (
    Case(
        "openai-chat",
        tuple(
            {"id": id, "type": "function", "function": {"name": id, "arguments": "{}"}, "index": index}
            for index, id in enumerate("abc")
        ),
    ),
    Case(
        "openai-responses",
        tuple(
            {"type": "function_call", "id": f"fc_{id}", "call_id": id, "name": id, "arguments": "{}"} for id in "abc"
        ),
    ),
    Case("anthropic-messages", tuple({"type": "tool_use", "id": id, "name": id, "input": {}} for id in "abc")),
    Case("gemini", tuple({"functionCall": {"name": id, "args": {"n": id}}} for id in "abc")),
    Case("ollama-chat", tuple({"function": {"name": id, "arguments": {"n": id}}} for id in "abc")),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.dialect)
def test_calls_are_turned_round_and_back(case: Case) -> None:
    dialect = default().named(case.dialect)
    assert dialect is not None
    reordered, recorded = Reordered(), case.reply(case.calls)
    served = reordered.served(Reply(200, JsonBody(recorded), frames=(b"x",)), dialect)
    assert isinstance(served.body, JsonBody) and served.frames is None
    assert served.body.value != recorded
    names = [call.name for call in dialect.read_reply(served.body.value).calls]
    assert names == ["c", "b", "a"]
    again = reordered.restored(Request("POST", "/", "", JsonBody({"history": [served.body.value]})))
    assert again.body == JsonBody({"history": [recorded]})


def test_what_stands_between_the_calls_stays_and_replies_do_not_mix() -> None:
    def call(id: str) -> JsonValue:
        return {"type": "function_call", "call_id": id, "name": id, "arguments": "{}"}

    def told(id: str) -> JsonValue:
        return {"type": "function_call_output", "call_id": id, "output": id}

    dialect = default().named("openai-responses")
    assert dialect is not None
    reordered = Reordered()
    for ids in ("ab", "cd"):
        reordered.served(Reply(200, JsonBody({"output": [call(id) for id in ids]})), dialect)
    sent: JsonValue = [call("b"), told("b"), call("a"), told("a"), call("d"), call("c"), told("d"), told("c")]
    again = reordered.restored(Request("POST", "/", "", JsonBody({"input": sent})))
    assert again.body == JsonBody(
        {"input": [call("a"), told("b"), call("b"), told("a"), call("c"), call("d"), told("d"), told("c")]}
    )


@pytest.mark.parametrize("calls", [(), CASES[0].calls[:1]], ids=["none", "one"])
def test_a_reply_with_one_call_or_none_is_served_as_it_is(calls: tuple[JsonValue, ...]) -> None:
    dialect = default().named("openai-chat")
    reply = Reply(200, JsonBody(CASES[0].reply(calls)), frames=(b"x",))
    assert Reordered().served(reply, dialect) is reply
    assert Reordered().served(reply, None) is reply


def test_tools_that_are_offered_are_no_calls() -> None:
    reordered, dialect = Reordered(), default().named("openai-chat")
    reordered.served(Reply(200, JsonBody(CASES[0].reply(CASES[0].calls))), dialect)
    offered: JsonValue = {
        "tools": [{"type": "function", "function": {"name": name, "parameters": {}}} for name in "abc"]
    }
    request = Request("POST", "/", "", JsonBody(offered))
    assert reordered.restored(request) is request
