"""Which of the model's decisions a call that reached a server carries out."""

from __future__ import annotations

from flowproof_addons.dialects.registry import assembled
from flowproof_addons.mcp import lane_file
from flowproof_addons.mcp.lane import Call, Lane
from flowproof_addons.trace.model import Exchange, JsonBody, JsonValue, Reply, Request, Trace
from flowproof_runner.evidence.build import build
from flowproof_runner.evidence.model import Decided, Dispatched
from flowproof_runner.mcp.evidence import reader


def turn(*decided: tuple[str, str, str]) -> Exchange:
    calls: list[JsonValue] = [
        {"id": id, "type": "function", "function": {"name": name, "arguments": text}} for id, name, text in decided
    ]
    reply: JsonValue = {"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": calls}}]}
    request = Request("POST", "/v1/chat/completions", "", JsonBody({"model": "m", "messages": []}))
    return Exchange(request, Reply(200, JsonBody(reply)), "openai-chat")


def call(tick: int, tool: str, arguments: JsonValue, tool_use: str = "") -> Call:
    return Call(
        method="tools/call",
        params={"name": tool, "arguments": arguments},
        opened=tick,
        turns=1,
        tool_use=tool_use,
    )


def joined(exchange: Exchange, *made: Call) -> list[str]:
    trace = Trace("", "", "", (exchange,))
    found = build(trace, assembled(()), lanes=(reader("fs", lane_file.dump(Lane(calls=made))),))
    assert len(list(found.of(Decided))) > 0
    return [event.call for event in found.of(Dispatched)]


def test_every_call_of_a_parallel_turn_is_joined_to_its_own_decision() -> None:
    exchange = turn(("a", "read", '{"path":"1"}'), ("b", "read", '{"path":"2"}'), ("c", "write", "{}"))
    made = (call(1, "write", {}), call(2, "read", {"path": "2"}), call(3, "read", {"path": "1"}))
    assert joined(exchange, *made) == ["c", "b", "a"]


def test_equal_calls_are_joined_in_order_and_one_too_many_is_the_agents_own() -> None:
    exchange = turn(("a", "read", "{}"), ("b", "read", "{}"))
    made = (call(1, "read", {}), call(2, "read", {}), call(3, "read", {}))
    assert joined(exchange, *made) == ["a", "b", "fs#3"]


def test_the_models_id_decides_whatever_the_arguments_became() -> None:
    exchange = turn(("a", "read", '{"path":"1"}'), ("b", "read", '{"path":"1"}'))
    made = (call(1, "read", {"path": "other"}, tool_use="b"), call(2, "read", {"path": "1"}))
    assert joined(exchange, *made) == ["b", "a"]
