from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.runner.report.html import sample

from flowproof_addons.dialects.registry import default
from flowproof_addons.trace import file
from flowproof_addons.trace.model import JsonValue, Trace
from flowproof_runner.contract.events01 import to_rows
from flowproof_runner.evidence.model import AnyEvent, Concluded, Confirmed, Decided, Dispatched, Returned, Told
from flowproof_runner.flow.conversation import kept
from flowproof_runner.records.story import Story, story, tell
from flowproof_runner.report import html
from flowproof_runner.report.html.turns import turns
from flowproof_runner.result import AgentEnd

SPECS = Path(__file__).parents[3] / "specs"


def heard(trace: Trace) -> dict[int, list[tuple[str, str]]]:
    found = tell(trace, default()).heard
    return {turn: [(said.role, said.text[:20]) for said in items] for turn, items in found.items()}


def test_a_request_tells_only_what_no_earlier_one_told() -> None:
    assert heard(sample.trace()) == {
        1: [("system", "You are a travel ass"), ("user", "Book me a flight to ")],
        2: [],
        3: [],
    }


@pytest.mark.parametrize("cassette", sorted(SPECS.glob("*.trace.json")), ids=lambda path: path.stem)
def test_the_prompt_is_told_once_whatever_the_dialect(cassette: Path) -> None:
    trace = file.load(cassette)
    lines = [line for items in heard(trace).values() for line in items]
    assert len([role for role, _ in lines if role == "user"]) == max(len(kept(trace)), 1)
    assert "assistant" not in {role for role, _ in lines}


def test_what_is_said_twice_is_told_twice() -> None:
    yes: JsonValue = {"role": "user", "content": "yes"}
    answer: JsonValue = {"role": "assistant", "content": "Sure?"}
    turns = (
        sample.chat([yes], {"content": "Sure?"}),
        sample.chat([yes, answer, yes], {"content": "Done."}),
    )
    assert heard(Trace("", "", "", turns)) == {1: [("user", "yes")], 2: [("user", "yes")]}


def test_results_the_spec_wrote_are_marked() -> None:
    events = tell(sample.trace(), default()).evidence
    assert {event.tool: event.mocked for event in events.of(Told)} == {"search_flights": False, "read_policy": True}
    assert {event.tool for event in events.of(Returned)} == {"search_flights", "create_booking", "audit"}


def test_a_story_is_read_from_the_run_folder(tmp_path: Path) -> None:
    file.save(tmp_path / "trace.json", sample.trace())
    (tmp_path / "out").write_text("one\ntwo\n")
    agent = AgentEnd(ending="exited", duration_s=1, stdout="out", stderr="missing")
    found = story(sample.failed().model_copy(update={"trace": "trace.json", "agent": agent}), tmp_path, default())
    assert found.told is not None and found.told.trace == sample.trace()
    assert (found.stdout, found.stderr, found.trouble) == (("one", "two"), (), "")


def test_a_trace_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    (tmp_path / "trace.json").write_text("{")
    found = story(sample.failed().model_copy(update={"trace": "trace.json", "agent": None}), tmp_path, default())
    assert found.told is None and "the file is cut" in found.trouble


def test_a_flow_that_left_no_trace_has_no_trouble(tmp_path: Path) -> None:
    assert story(sample.skipped(), tmp_path, default()) == Story(sample.skipped())


def test_an_adapters_conversation_is_told_with_its_confirmations() -> None:
    events: list[AnyEvent] = [
        Confirmed(seq=0, lane="adapter", call=None, tool="refund", arguments={"amount": 5}, granted=True),
        Decided(
            seq=1,
            lane="adapter",
            call="c1",
            tool="refund",
            arguments={"amount": 5},
            arguments_text='{"amount":5}',
            thread="adapter",
            group=1,
        ),
        Dispatched(seq=2, lane="adapter", call="c1", tool="refund", arguments={"amount": 5}),
        Returned(seq=3, lane="adapter", call="c1", tool="refund", result={"ok": True}),
        Concluded(seq=4, lane="adapter", status="completed", output={"refunded": 1}),
    ]
    trace = replace(sample.trace(), exchanges=sample.trace().exchanges[:2], extra={"adapter": to_rows(events)})
    told = tell(trace, default())
    *_, adapter = turns(told)
    assert adapter.title == "The adapter's conversation"
    assert [(call.tool, call.returned is not None) for call in adapter.calls] == [("refund", True)]
    assert [event.tool for event in adapter.confirmed] == ["refund"]
    page = html.render(sample.run(sample.failed()), [Story(sample.failed(), told)])
    assert 'confirmed: <code class="tool">refund</code> <code class="brief">amount: 5</code>' in page
    assert "Outcome" in page
