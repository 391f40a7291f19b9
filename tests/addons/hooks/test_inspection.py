"""A trace as flows."""

from __future__ import annotations

from pathlib import Path

import pytest
from mitmproxy import http

from flowproof_addons.dialects.registry import assembled
from flowproof_addons.hooks.facts import facts_of
from flowproof_addons.hooks.inspection import Shown, flows
from flowproof_addons.mcp import lane_file
from flowproof_addons.mcp.lane import Call, Frame, Lane, Listing
from flowproof_addons.trace import file
from flowproof_addons.trace.model import Exchange, JsonBody, JsonValue, Reply, Request, Trace

REGISTRY = assembled(())
SPECS = Path(__file__).parents[3] / "specs"
RESULT: dict[str, JsonValue] = {"result": {"content": []}}


def made(trace: Trace, *, several: bool = False) -> list[http.HTTPFlow]:
    return flows(trace, Shown(Path("x.trace.json"), "booking", several=several), REGISTRY)


def trace(*exchanges: Exchange, **lanes: Lane) -> Trace:
    mcp = {name: lane_file.dump(lane) for name, lane in lanes.items()}
    return Trace("", "2026-12-02T06:45:12Z", "", exchanges, mcp=mcp)


def turn() -> Exchange:
    body = JsonBody({"choices": [{"message": {"content": "Hi."}}]})
    return Exchange(Request("POST", "/v1/chat/completions", "a=b", JsonBody({})), Reply(200, body), "openai-chat")


def call(tool: str, opened: int, turns: int) -> Call:
    params: dict[str, JsonValue] = {"name": tool, "arguments": {}}
    return Call(method="tools/call", params=params, opened=opened, turns=turns, closed=opened + 1, outcome=RESULT)


def test_lane_traffic_stands_between_the_turns_it_happened_between() -> None:
    fs = Lane(
        catalogue=(
            Listing(method="tools/list", params={}, protocol="", outcome=RESULT, after=0),
            Listing(method="prompts/list", params={}, protocol="", outcome=RESULT, after=2),
        ),
        calls=(call("early", 1, 0), call("read", 3, 1), call("write", 7, 2)),
        pushes=(Frame(at=5, message={"jsonrpc": "2.0", "method": "notifications/log"}),),
    )
    web = Lane(calls=(call("get", 4, 1),))
    assert [flow.request.path for flow in made(trace(turn(), turn(), fs=fs, web=web))] == [
        "/tools/list",
        "/tools/call/early",
        "/v1/chat/completions?a=b",
        "/tools/call/read",
        "/prompts/list",
        "/tools/call/get",
        "/notifications/log",
        "/v1/chat/completions?a=b",
        "/tools/call/write",
    ]


def test_times_follow_the_order_and_hosts_tell_who_was_asked() -> None:
    found = made(trace(turn(), turn(), fs=Lane(calls=(call("read", 1, 1),))))
    starts = [flow.request.timestamp_start for flow in found]
    assert starts == sorted(starts) and len(set(starts)) == 3
    assert [flow.request.host for flow in found] == ["booking", "fs.mcp.booking", "booking"]


def test_ids_are_the_same_at_every_inspection_and_differ_within() -> None:
    first, again = ([flow.id for flow in made(trace(turn(), turn()))] for _ in range(2))
    assert first == again and len(set(first)) == 2


def test_one_of_several_bears_its_name() -> None:
    found = made(trace(turn(), fs=Lane(calls=(call("read", 1, 1),))), several=True)
    assert [flow.comment for flow in found] == [
        'booking · turn 1 · openai-chat · "Hi."',
        "booking · mcp fs · read() · 0 ms",
    ]


def test_who_answered_a_call_is_said() -> None:
    own = call("a", 1, 0)
    by_spec = Call(method="tools/call", params={"name": "b"}, opened=3, by="spec", closed=4, outcome=RESULT)
    refused = Call(method="tools/call", params={"name": "c"}, opened=5, by="enforce", closed=6, outcome=RESULT)
    open_ended = Call(method="tools/call", params={"name": "d"}, opened=7)
    found = made(trace(fs=Lane(calls=(own, by_spec, refused, open_ended))))
    assert [facts_of(flow).remark for flow in found] == ["", "answered by the spec", "refused by the spec", ""]
    assert [flow.marked for flow in found] == ["", "", ":no_entry:", ""]
    assert found[3].response is None


@pytest.mark.parametrize("cassette", sorted(SPECS.glob("*.trace.json")), ids=lambda path: path.stem)
def test_every_shipped_recording_can_be_inspected(cassette: Path) -> None:
    recorded = file.load(cassette)
    found = made(recorded)
    assert {facts_of(flow).server for flow in found} == {"", *recorded.mcp}
    for flow, exchange in zip((f for f in found if not facts_of(f).server), recorded.exchanges, strict=True):
        assert flow.response is not None
        assert flow.response.status_code == exchange.reply.status
        if exchange.reply.frames is not None:
            assert flow.response.content == b"".join(exchange.reply.frames)
        assert exchange.dialect is None or exchange.dialect in flow.comment
