"""Where `agent.output` says that a run's structured outcome is."""

from __future__ import annotations

import json

import pytest

from flowproof_addons.dialects.registry import default
from flowproof_addons.trace.model import Exchange, JsonBody, JsonValue, Reply, Request, Trace
from flowproof_runner.evidence.build import build
from flowproof_runner.evidence.model import ADAPTER, Concluded, Evidence
from flowproof_runner.evidence.outcome import with_outcome

MISSING = object()


def run(said: str | None, *calls: tuple[str, JsonValue]) -> Evidence:
    """One turn of a model that says and asks for these."""
    asked = [
        {"id": f"c{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for n, (name, arguments) in enumerate(calls)
    ]
    message: JsonValue = {"role": "assistant", "content": said, **({"tool_calls": asked} if asked else {})}  # type: ignore[dict-item]  # a literal
    request = Request("POST", "/v1/chat/completions", "", JsonBody({"model": "m", "messages": []}))
    reply = Reply(200, JsonBody({"id": "c", "model": "m", "choices": [{"index": 0, "message": message}]}))
    return build(
        Trace("flowproof 0", "2026-12-02T00:00:00Z", "", (Exchange(request, reply, "openai-chat"),)), default()
    )


def outcome(evidence: Evidence) -> object:
    return next((event.output for event in evidence.of(Concluded)), MISSING)


FENCED = 'Done:\n```json\n{"ok": 1}\n```\nand\n```\n{"ok": 2}\n```\nBye.'


@pytest.mark.parametrize(
    ("evidence", "kind", "name", "text", "output"),
    [
        (run("Done."), "reply", "", None, "Done."),
        (run(None, ("file", {})), "reply", "", None, MISSING),
        (run('{"ok": true}'), "reply json", "", None, {"ok": True}),
        (run(FENCED), "reply json", "", None, {"ok": 2}),
        (run("ok is true"), "reply json", "", None, MISSING),
        (run(None, ("file", {"n": 1}), ("other", {}), ("file", {"n": 2})), "tool", "file", None, {"n": 2}),
        (run(None, ("mcp__out__file", {"n": 1})), "tool", "file", None, {"n": 1}),
        (run(None, ("other", {})), "tool", "file", None, MISSING),
        (run("Done."), "file", "out.json", '{"ok": null}', {"ok": None}),
        (run("Done."), "file", "out.json", "no JSON", MISSING),
        (run("Done."), "file", "out.json", None, MISSING),
        (run("Done."), "body", "", "[1]", [1]),
        (run("Done."), "adapter", "", None, MISSING),
    ],
)
def test_the_outcome_is_read_where_the_spec_says(
    evidence: Evidence, kind: str, name: str, text: str | None, output: object
) -> None:
    assert outcome(with_outcome(evidence, kind, name, text)) == output


def test_what_an_adapter_concluded_stands() -> None:
    said = Evidence((Concluded(seq=1, lane=ADAPTER, status="completed", output={"ok": 1}),))
    assert outcome(with_outcome(said, "file", "out.json", '{"ok": 2}')) == {"ok": 1}
