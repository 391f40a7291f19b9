"""A run in which everything happens that the page can show, and one whose texts attack it."""

from __future__ import annotations

from dataclasses import replace

from flowproof_addons.dialects.registry import default
from flowproof_addons.matching.difference import differences
from flowproof_addons.matching.divergence import Divergence
from flowproof_addons.mcp import lane_file
from flowproof_addons.mcp.lane import Call, Lane, Listing
from flowproof_addons.trace.model import Attempt, Exchange, Fault, JsonBody, JsonValue, Reply, Request, Trace
from flowproof_runner.containment.report import ENFORCED_WITH_LANDLOCK
from flowproof_runner.records.story import Story, tell
from flowproof_runner.result import (
    AgentEnd,
    Counts,
    FaultUse,
    FindingResult,
    FlowResult,
    PinUse,
    RunResult,
    StepResult,
    overall,
)

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&\u202egnp.exe\u0000\ud800"

SYSTEM = "You are a travel assistant. Book only what the customer confirmed.\nToday is 2026-12-02."
PROMPT = "Book me a flight to Nairobi tomorrow, and mail me the receipt"
FLIGHTS: JsonValue = {
    "flights": [
        {"id": "KQ311", "from": "LHR", "dest": "NBO", "price": {"amount": 612.40, "currency": "EUR"}, "seats": 4},
        {"id": "BA065", "from": "LHR", "dest": "NBO", "price": {"amount": 701.00, "currency": "EUR"}, "seats": 0},
    ]
}
BOOKING: JsonValue = {"flight": {"id": "KQ311"}, "passengers": [{"name": "Ada Lovelace", "seat": None}]}


def chat(messages: list[JsonValue], reply: dict[str, JsonValue], **more: object) -> Exchange:
    """A turn of Chat Completions."""
    body: JsonValue = {
        "model": "gpt-5-mini",
        "messages": messages,
        "tools": [
            {"type": "function", "function": {"name": name}}
            for name in ("search_flights", "create_booking", "send_mail")
        ],
    }
    stop = "tool_calls" if "tool_calls" in reply else "stop"
    answer: JsonValue = {
        "id": "chatcmpl-1",
        "model": "gpt-5-mini-2026-08-01",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": None, **reply}, "finish_reason": stop}],
        "usage": {"prompt_tokens": 312 + 90 * len(messages), "completion_tokens": 41, "total_tokens": 0},
    }
    exchange = Exchange(
        Request("POST", "/v1/chat/completions", "", JsonBody(body)),
        Reply(200, JsonBody(answer)),
        "openai-chat",
        served_from=0,
        equality="bytes",
    )
    return replace(exchange, **more)  # type: ignore[arg-type]


def calls(*made: tuple[str, str, str]) -> dict[str, JsonValue]:
    """A reply that asks for tools: (id, name, arguments as text)."""
    return {
        "tool_calls": [
            {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
            for id, name, arguments in made
        ]
    }


def told(id: str, content: str) -> JsonValue:
    """A result in a request."""
    return {"role": "tool", "tool_call_id": id, "content": content}


def diverged() -> Divergence:
    """What the matcher would say of a changed prompt."""
    old, new = SYSTEM, SYSTEM.replace("only what the customer confirmed", "whatever is cheapest")
    found = differences({"messages": [{"content": old}]}, {"messages": [{"content": new}]})
    return Divergence(
        "changed",
        "POST /v1/chat/completions",
        3,
        2,
        "recorded turn 3",
        ("client version changed: OpenAI/Python 2.8.0 -> OpenAI/Python 2.9.1",),
        ("system prompt changed", "tools offered changed: +cancel_booking"),
        tuple(found),
        2,
    )


def trace() -> Trace:
    """Three turns, the last of which diverges; two calls reach a server, one is refused, one nobody observed."""
    start: list[JsonValue] = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": PROMPT}]
    first = calls(
        ("call_1", "search_flights", '{"destination": "NBO", "date": "2026-12-03"}'),
        ("call_2", "read_policy", '{"name": "travel"}'),
    )
    asked: JsonValue = {"role": "assistant", "content": None, **first}
    after = [
        *start,
        asked,
        told("call_1", '{"flights": [{"id": "KQ311"}]}'),
        told("call_2", "policies/travel.md: no such file"),
    ]
    second = calls(
        (
            "call_3",
            "create_booking",
            '{"flight": {"id": "KQ311"}, "passengers": [{"name": "Ada Lovelace", "seat": null}]}',
        ),
        ("call_4", "delete_booking", '{"id": "B-0"}'),
    )
    report = diverged().to_json()
    return Trace(
        "flowproof 0.1.0",
        "2026-12-02T06:45:12Z",
        "0" * 64,
        (
            Exchange(Request("GET", "/v1/models", "", JsonBody(None)), Reply(200, JsonBody({"data": []}))),
            chat(start, {**first, "content": "Let me look."}, attempts=(Attempt(429), Attempt(503))),
            chat(after, second, equality="rules", rules=("today",)),
            chat([*after, {"role": "assistant", "content": None, **second}], {}, divergence=report, equality=None),
        ),
        mcp={"bookings": lane_file.dump(lane())},
        mocks=[{"name": "read_policy", "results": [{"content": "policies/travel.md: no such file"}]}],
        faulted=(replace(chat(after, second), reply=Reply(429, JsonBody({})), fault=Fault("turn 2: answer 429", 2)),),
    )


def lane() -> Lane:
    """The traffic of one MCP server."""
    return Lane(
        catalogue=(
            Listing(
                method="tools/list",
                params={},
                protocol="2025-11-25",
                outcome={"result": {"tools": [{"name": n} for n in ("search_flights", "create_booking", "audit")]}},
                after=0,
            ),
        ),
        calls=(
            Call(
                method="tools/call",
                params={"name": "search_flights", "arguments": {"destination": "NBO", "date": "2026-12-03"}},
                opened=1,
                turns=1,
                closed=2,
                outcome={"result": {"content": [], "structuredContent": FLIGHTS}},
                ms=12,
            ),
            Call(
                method="tools/call",
                params={"name": "create_booking", "arguments": {**BOOKING, "notify": True}},  # type: ignore[dict-item]
                opened=3,
                turns=2,
                closed=4,
                outcome={"result": {"content": [{"type": "text", "text": "sold out"}], "isError": True}},
                ms=1840,
                tool_use="call_3",
            ),
            Call(
                method="tools/call",
                params={"name": "delete_booking", "arguments": {"id": "B-0"}},
                opened=5,
                turns=2,
                closed=6,
                outcome={"result": {"content": [{"type": "text", "text": "forbidden by the spec"}], "isError": True}},
                by="enforce",
            ),
            Call(
                method="tools/call",
                params={"name": "audit", "arguments": {"event": "booked"}},
                opened=7,
                turns=2,
                closed=8,
                outcome={"result": {"content": [{"type": "text", "text": "ok"}]}},
                ms=3,
            ),
        ),
    )


def failed() -> FlowResult:
    """The flow of `trace`."""
    report = diverged().to_json()
    return FlowResult(
        name="Booking assistant books a flight and mails the receipt",
        spec="specs/booking.flow.yaml",
        phase="replay",
        verdict="fail",
        exit_code=3,
        prompt=PROMPT,
        findings=(
            FindingResult(
                id="model.divergence",
                message=str(report["message"]),
                detail=str(report["detail"]),
                where="specs/booking.flow.yaml:3",
            ),
            FindingResult(
                id="egress.undeclared",
                severity="critical",
                message="the agent tried to reach 198.51.100.7:443 (telemetry.example) over tcp, which is not declared",
                detail="process: python3 (4711) < npm (4700)\nfirst at 312 ms\nrefused; add it to agent.allow_egress",
                where="specs/booking.flow.yaml:31",
            ),
            FindingResult(
                id="tool.call.missing",
                message="no call of send_mail where to equals ada@example.com",
                detail="expected:\n- send_mail(to=ada@example.com)\n+ never called",
                where="specs/booking.flow.yaml:28",
                caused_by="model.divergence",
            ),
        ),
        notes=("the cassette was recorded by flowproof 0.0.9; it is read as it is",),
        steps=(
            StepResult(
                number=2,
                text="assert_tool_call: search_flights where destination contains NBO",
                ok=True,
                where="specs/booking.flow.yaml:26",
            ),
            StepResult(
                number=3,
                text="assert_tool_call: send_mail where to equals ada@example.com",
                ok=False,
                where="specs/booking.flow.yaml:28",
                note="send_mail was never called",
            ),
            StepResult(number=4, text="assert_no_egress", ok=False, where="specs/booking.flow.yaml:31"),
        ),
        counts=Counts(turns=3, recorded_turns=4, side_calls=1, tool_calls=4, input_tokens=1204, output_tokens=88),
        faults=(FaultUse(name="turn 2: answer 429", count=1),),
        pins=(PinUse(name="today", count=2, why="the prompt holds the date"), PinUse(name="session id", count=0)),
        agent=AgentEnd(
            ending="stopped after divergence",
            duration_s=0.91,
            stdout="runs/01-booking/stdout.txt",
            stderr="runs/01-booking/stderr.txt",
            tail_of="stderr",
        ),
        containment=ENFORCED_WITH_LANDLOCK,
        egress={
            "tier": ENFORCED_WITH_LANDLOCK,
            "allow_egress": ["api.example.com:443", "${SERVICE_HOST}:443"],
            "blocked": [
                {
                    "destination": "198.51.100.7:443",
                    "protocol": "tcp",
                    "kind": "connect",
                    "name": "telemetry.example",
                    "count": 3,
                }
            ],
            "names": [{"name": "api.example.com", "type": "A", "declared": True}],
            "probes": [],
            "narrowed": [{"asked": "0.0.0.0:9229", "bound": "127.0.0.1:9229"}],
            "unix": [],
            "faults": [],
        },
        control={"id": "sec.travel-01", "title": "Bookings need a confirmation"},
        cassette="specs/booking.trace.json",
        folder="runs/01-booking",
        trace="runs/01-booking/trace.json",
        duration_s=0.93,
    )


def passed() -> FlowResult:
    """A flow that is as it should be."""
    return FlowResult(
        name="Assistant refuses to move money",
        spec="specs/refusal.flow.yaml",
        phase="replay",
        verdict="pass",
        exit_code=0,
        counts=Counts(turns=2, recorded_turns=2, tool_calls=2, input_tokens=338, output_tokens=26),
        steps=(StepResult(number=1, text="assert: reply contains may not move money", ok=True),),
        agent=AgentEnd(ending="exited", exit_code=0, duration_s=0.2, stdout="runs/02-refusal/stdout.txt"),
        containment="not contained (the spec has neither agent.allow_egress nor assert_no_egress)",
        duration_s=0.21,
    )


def broken() -> FlowResult:
    """A spec that cannot be read."""
    return FlowResult(
        name="",
        spec="specs/broken.flow.yaml",
        phase="replay",
        verdict="error",
        exit_code=2,
        findings=(
            FindingResult(
                id="spec.invalid",
                kind="problem",
                message=(
                    "2 problems in specs/broken.flow.yaml\nspecs/broken.flow.yaml:3:1: stepz: unknown key; accepted:"
                    " agent, name\nspecs/broken.flow.yaml:9:5: timeout: '5 parsecs' is no time; accepted: 300s, 5m"
                ),
            ),
        ),
    )


def skipped() -> FlowResult:
    """A flow that was not run."""
    return FlowResult(
        name="Live",
        spec="specs/live.flow.yaml",
        phase="replay",
        verdict="skip",
        exit_code=0,
        reason="OPENAI_API_KEY is not set",
    )


def run(*flows: FlowResult) -> RunResult:
    """A run of these flows."""
    verdict, code = overall(flows)
    return RunResult(
        flowproof="0.1.0",
        command="run",
        id="20261202T064512Z-a1b2c3",
        folder=".flowproof/runs/20261202T064512Z-a1b2c3",
        started_at="2026-12-02T06:45:12Z",
        duration_s=2.4,
        verdict=verdict,
        exit_code=code,
        flows=flows,
        notes=("network: enforced (linux seccomp+landlock)",),
    )


def everything() -> tuple[RunResult, list[Story]]:
    """One flow of each kind."""
    flows = (failed(), passed(), broken(), skipped())
    output = (
        "Traceback (most recent call last):",
        '  File "assistant.py", line 41, in <module>',
        "openai.BadRequestError: Error code: 400 - flowproof: turn 3: system prompt changed",
    )
    stories = [
        Story(flows[0], tell(trace(), default()), ("looking for flights", "found KQ311"), output),
        Story(flows[1], None, ("I may not move money.",)),
        Story(flows[2]),
        Story(flows[3]),
    ]
    return run(*flows), stories


def attack() -> tuple[RunResult, list[Story]]:
    """Every text of the run is hostile."""
    evil = HOSTILE
    turn = chat(
        [{"role": evil, "content": evil}, {"role": "system", "content": evil}],
        {"content": evil, **calls((evil, evil, evil))},
        rules=(evil,),
        equality="rules",
    )
    part: JsonValue = {"path": evil, "kind": evil, "recorded": [evil, 3, 9], "sent": [evil, 1, 4]}
    divergence: dict[str, JsonValue] = {
        **diverged().to_json(),
        "message": evil,
        "detail": f"  note: {evil}",
        "nearest_name": evil,
        "envelope": [evil],
        "differences": [part],
        "pin": [evil],
    }
    lost = chat([{"role": "user", "content": evil}], {}, divergence=divergence, equality=None)
    side = Exchange(Request("GET", evil, "", JsonBody(None)), Reply(200, JsonBody(None)))
    evil_lane = replace(
        lane(), calls=tuple(replace(c, params={"name": evil, "arguments": {evil: evil}}) for c in lane().calls)
    )
    faulted = replace(turn, fault=Fault(evil, 1))
    seen = Trace(evil, evil, "", (turn, lost, side), mcp={evil: lane_file.dump(evil_lane)}, faulted=(faulted,))
    flow = FlowResult(
        name=evil,
        spec=evil,
        phase="replay",
        verdict="fail",
        exit_code=1,
        prompt=evil,
        findings=(
            FindingResult(id=evil, message=f"{evil}\n{evil}", detail=f"- {evil}\n+ {evil}", where=evil),
            FindingResult(id="model.divergence", message=evil, detail=str(divergence["detail"])),
            FindingResult(id=evil, message=evil, caused_by=evil),
        ),
        notes=(evil,),
        steps=(StepResult(number=1, text=evil, ok=False, note=evil),),
        faults=(FaultUse(name=evil, count=1, remarks=(evil,)),),
        pins=(PinUse(name=evil, count=1, why=evil),),
        agent=AgentEnd(ending=evil, duration_s=1, stdout=evil, stderr=evil),
        containment=evil,
        egress={
            "tier": evil,
            "allow_egress": [evil],
            "blocked": [{"destination": evil, "protocol": evil, "name": evil, "count": 2}],
            "names": [{"name": evil, "type": evil}],
            "narrowed": [{"asked": evil, "bound": evil}],
            "unix": [{"path": evil}],
            "faults": [evil],
        },
        control={"id": evil, "title": evil},
    )
    whole = run(flow).model_copy(update={"notes": (evil,), "folder": evil, "id": evil, "started_at": evil})
    return whole, [Story(flow, tell(seen, default()), (evil,), (evil,), evil)]
