"""Every assertion fails for the reason it exists, and passes otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.evidence.model import Evidence
from flowproof_runner.expectations.ast import NoEgress, PlacedStep, Prompt
from flowproof_runner.expectations.judge import judge
from flowproof_runner.expectations.judgement import CallLimit, Judgement
from flowproof_runner.findings import Exit, exit_code

type Judge = Callable[..., Judgement]
type Run = Any  # the fixture's class


def calls(*tools: str) -> list[dict[str, JsonValue]]:
    return [{"assert_tool_call": tool} for tool in tools]


def messages(judgement: Judgement) -> list[str]:
    return [f"{finding.id}: {finding.message}" for finding in judgement.findings]


@pytest.fixture
def booking(run: Run) -> Evidence:
    evidence: Evidence = (
        run(offers=("search", "book", "pay"))
        .turn(("search", {"dest": "NBO", "seats": 2}))
        .told("1.0", "search", {"id": "KQ311"})
        .turn(("book", {"flight": {"id": "KQ311"}}), ("pay", {"amount": 10}))
        .told("2.0", "book", "sold out", is_error=True)
        .turn(text="All booked: KQ311")
        .evidence()
    )
    return evidence


@pytest.mark.parametrize(
    "step",
    [
        {"assert_tool_call": "search where dest equals NBO"},
        {"assert_tool_call": "search where result.id equals KQ311 and result.is_error is false"},
        {"assert_tool_call": "book where result.is_error is true and result contains sold"},
        {"assert_tool_call": {"tool": "search", "args": {"dest": "NBO"}}},
        {"assert_tool_call": {"tool": "search", "args_exact": {"seats": 2, "dest": "NBO"}}},
        {"assert_tool_call": {"tool": "search", "result": {"id": "KQ311"}, "is_error": False}},
        {"assert_tool_call": {"tool": "search", "times": 1}},
        {"assert_tool_call": {"tool": "search", "at": "model"}},
        {"assert_tool_call": "pay where result is absent"},
        {"assert_no_tool_call": "search where dest equals LHR"},
        {"assert_no_tool_call": "pay where amount > 10"},
        {"assert_tool_request": "book"},
        {"assert_no_tool_request": "book where flight.id matches ^LH"},
        {"assert": "reply contains booked"},
        {"assert": "reply is booked"},
        {"assert": "reply equals All booked: KQ311"},
        {"assert": "reply matches KQ[0-9]+$"},
        {"assert": "reply not contains sorry"},
        {"assert": {"reply": {"contains": "booked"}}},
    ],
    ids=str,
)
def test_a_run_that_did_it_passes(judged: Judge, booking: Evidence, step: dict[str, JsonValue]) -> None:
    judgement = judged(booking, step)
    assert (messages(judgement), judgement.notes, [each.passed for each in judgement.steps]) == ([], (), [True])


@pytest.mark.parametrize(
    ("step", "finding"),
    [
        (
            {"assert_tool_call": "search where dest equals LHR"},
            "tool.call.missing: expected a call of search where dest equals LHR; "
            'search was called with dest "NBO" (turn 1)',
        ),
        (
            {"assert_tool_call": "search where dest equals NBO and date exists and seats > 2"},
            "tool.call.missing: expected a call of search where dest equals NBO and date exists and seats > 2; "
            "search was called with no date, seats 2 (turn 1)",
        ),
        (
            {"assert_tool_call": "serch"},
            "tool.call.missing: expected a call of serch; called were search, book, pay; did you mean 'search'?; "
            "the model was never offered it",
        ),
        (
            {"assert_tool_call": "book where result.is_error is false"},
            "tool.call.missing: expected a call of book where result.is_error equals false; "
            "book was called with result.is_error true (turn 2)",
        ),
        (
            {"assert_tool_call": "pay where result contains ok"},
            "tool.call.missing: expected a call of pay where result contains ok; "
            "pay was called with no result (turn 2)",
        ),
        (
            {"assert_tool_call": {"tool": "search", "args": {"seats": "2"}}},
            'tool.call.missing: expected a call of search where includes {"seats": "2"}; '
            'search was called with arguments {"dest": "NBO", "seats": 2} (turn 1)',
        ),
        (
            {"assert_tool_call": {"tool": "search", "args_exact": {"dest": "NBO"}}},
            'tool.call.missing: expected a call of search where is exactly {"dest": "NBO"}; '
            'search was called with arguments {"dest": "NBO", "seats": 2} (turn 1)',
        ),
        (
            {"assert_tool_call": {"tool": "search", "times": 2}},
            "tool.call.count: expected exactly 2 calls of search; there was 1 (turn 1)",
        ),
        (
            {"assert_no_tool_call": "pay"},
            'tool.call.forbidden: pay must never be called, but was (turn 2) with {"amount": 10}',
        ),
        (
            {"assert_no_tool_call": "pay where amount >= 10"},
            'tool.call.forbidden: pay where amount >= 10 must never be called, but was (turn 2) with {"amount": 10}',
        ),
        (
            {"assert_tool_request": "refund"},
            "tool.request.missing: expected a request for refund; asked for were search, book, pay; "
            "the model was never offered it",
        ),
        (
            {"assert_no_tool_request": "book"},
            'tool.request.forbidden: book must never be asked for, but was (turn 2) with {"flight": {"id": "KQ311"}}',
        ),
        (
            {"assert": "reply contains paid"},
            'reply.mismatch: expected the reply: contains paid; it is "All booked: KQ311"',
        ),
        (
            {"assert": "reply equals booked"},
            'reply.mismatch: expected the reply: equals booked; it is "All booked: KQ311"',
        ),
        ({"assert": "reply matches ^KQ"}, 'reply.mismatch: expected the reply: matches ^KQ; it is "All booked: KQ311"'),
        (
            {"assert": "reply not contains booked"},
            'reply.mismatch: expected the reply: not contains booked; it is "All booked: KQ311"',
        ),
    ],
    ids=str,
)
def test_a_run_that_did_not_fails_and_says_what_it_did(
    judged: Judge, booking: Evidence, step: dict[str, JsonValue], finding: str
) -> None:
    judgement = judged(booking, step)
    assert messages(judgement) == [finding]
    assert [(each.passed, each.where) for each in judgement.steps] == [(False, "f:1")]
    assert (judgement.findings[0].where, exit_code(judgement.findings)) == ("f:1", Exit.FAILED)


@pytest.mark.parametrize(
    ("tools", "failing"),
    [
        (["search", "book"], []),
        (["search", "pay", "book"], []),  # one message asked for both: their order is not asserted
        (["book", "search"], ["expected a call of search; search was called (turn 1), but before book (turn 2)"]),
        (
            ["search", "search"],
            ["expected a call of search; search was called only 1 time, and earlier steps claim that"],
        ),
        (
            ["pay", "book", "book"],
            ["expected a call of book; book was called only 1 time, and earlier steps claim that"],
        ),
    ],
)
def test_calls_are_an_ordered_subsequence(
    judged: Judge, booking: Evidence, tools: list[str], failing: list[str]
) -> None:
    judgement = judged(booking, *calls(*tools))
    assert [finding.message for finding in judgement.findings] == failing
    assert [step.passed for step in judgement.steps].count(False) == len(failing)


def test_every_failing_step_is_reported_not_only_the_first(judged: Judge, booking: Evidence) -> None:
    judgement = judged(booking, *calls("search", "refund", "book", "cancel"))
    assert [step.passed for step in judgement.steps] == [True, False, True, False]
    assert [finding.where for finding in judgement.findings] == ["f:2", "f:4"]


def test_a_step_says_which_events_it_stands_on(judged: Judge, booking: Evidence) -> None:
    judgement = judged(booking, *calls("search", "book"), {"assert": "reply contains booked"})
    seen = [booking.events[seq] for step in judgement.steps for seq in step.matched]
    assert [type(event).__name__ for event in seen] == ["Decided", "Decided", "Replied"]


def test_times_claims_that_many_calls_and_no_more(judged: Judge, run: Run) -> None:
    twice = run(offers=("a", "b")).turn(("a", {})).turn(("a", {})).turn(("b", {})).evidence()
    assert messages(judged(twice, {"assert_tool_call": {"tool": "a", "times": 2}}, *calls("b"), strict=True)) == []
    thrice = run(offers=("a",)).turn(("a", {}), ("a", {})).turn(("a", {})).evidence()
    assert messages(judged(thrice, {"assert_tool_call": {"tool": "a", "times": 2}})) == [
        "tool.call.count: expected exactly 2 calls of a; there were 3 (turn 1), (turn 1), (turn 2)"
    ]


def test_strict_wants_every_call_claimed(judged: Judge, booking: Evidence) -> None:
    assert messages(judged(booking, *calls("search", "book", "pay"), strict=True)) == []
    judgement = judged(booking, *calls("search", "book"), strict=True)
    assert messages(judgement) == [
        'tool.call.unclaimed: strict: no assert_tool_call claims pay (turn 2) with {"amount": 10}'
    ]
    assert judgement.findings[0].where == "f:99"


def test_an_agent_that_calls_nothing_meets_no_call_assertion(judged: Judge, run: Run) -> None:
    idle = run(offers=("search",)).turn(text="hi").evidence()
    assert messages(judged(idle, *calls("search"))) == [
        "tool.call.missing: expected a call of search; no tool was called"
    ]


def test_never_is_vacuous_for_a_tool_that_was_never_offered(judged: Judge, booking: Evidence) -> None:
    judgement = judged(booking, {"assert_no_tool_call": "transfer"})
    assert [step.passed for step in judgement.steps] == [True]
    assert [(note.id, note.where, note.message) for note in judgement.notes] == [
        ("tool.vacuous", "f:1", "assert_no_tool_call: transfer proves nothing: the model was never offered 'transfer'")
    ]


@pytest.mark.parametrize("key", ["assert_no_tool_call", "assert_no_tool_request"])
def test_never_cannot_be_concluded_from_a_run_that_was_cut_short(judged: Judge, run: Run, key: str) -> None:
    cut = run(offers=("pay",)).turn(("search", {})).evidence(complete=False)
    judgement = judged(cut, {key: "pay"})
    assert [step.passed for step in judgement.steps] == [False]
    assert "the run did not come to its end" in judgement.findings[0].message
    unseen = run().evidence()
    assert "no model request was seen" in judged(unseen, {key: "pay"}).findings[0].message


class TestTheToolBoundary:
    """Where a server's calls are observed, a call is what reached it; a request is what the model decided."""

    @pytest.fixture
    def guarded(self, run: Run) -> Evidence:
        """The model asked to export, and the agent's code refused."""
        evidence: Evidence = (
            run(offers=("fs__export", "fs__list"), lanes={"fs": ("export", "list")})
            .turn(("fs__list", {}), ("fs__export", {"rows": 100}))
            .sent("fs", "list", {}, "1.0", result=["a"])
            .turn(text="refused")
            .evidence()
        )
        return evidence

    def test_the_guard_flow_passes(self, judged: Judge, guarded: Evidence) -> None:
        steps: list[dict[str, JsonValue]] = [{"assert_tool_request": "export"}, {"assert_no_tool_call": "export"}]
        assert messages(judged(guarded, *steps, *calls("fs.list"), strict=True)) == []

    def test_a_refused_request_is_no_call(self, judged: Judge, guarded: Evidence) -> None:
        assert messages(judged(guarded, *calls("export"))) == [
            "tool.call.missing: expected a call of export; "
            "the model asked for it, but no such call reached a server (turn 1)"
        ]

    def test_a_forbidden_call_that_was_dispatched_is_critical(self, judged: Judge, run: Run) -> None:
        done = run(offers=("export",), lanes={"fs": ("export",)}).turn(("export", {})).sent("fs", "export", {}, "1.0")
        judgement = judged(done.evidence(), {"assert_no_tool_call": "export"})
        assert exit_code(judgement.findings) == Exit.CRITICAL

    def test_a_call_the_model_never_decided_is_a_call(self, judged: Judge, run: Run) -> None:
        behind = run(offers=("export",), lanes={"fs": ("rm_all",)}).turn(text="ok").sent("fs", "rm_all", {})
        evidence = behind.evidence()
        assert messages(judged(evidence, {"assert_no_tool_call": "rm_all"})) != []
        assert messages(judged(evidence, *calls("rm_all"))) == []
        assert messages(judged(evidence, {"assert_tool_request": "rm_all"})) != []

    @pytest.mark.parametrize("name", ["list", "fs.list", "fs/list", "fs__list", "mcp__fs__list"])
    def test_an_mcp_tool_answers_to_all_its_names(self, judged: Judge, guarded: Evidence, name: str) -> None:
        assert messages(judged(guarded, *calls(name), {"assert_tool_request": name})) == []

    @pytest.mark.parametrize("name", ["db.list", "lis", "mcp__list", "fs_list"])
    def test_and_to_no_other(self, judged: Judge, guarded: Evidence, name: str) -> None:
        assert messages(judged(guarded, *calls(name))) != []

    def test_at_chooses_the_boundary(self, judged: Judge, guarded: Evidence) -> None:
        assert messages(judged(guarded, {"assert_tool_call": {"tool": "export", "at": "model"}})) == []
        assert messages(judged(guarded, {"assert_tool_call": {"tool": "export", "at": "mcp"}})) != []
        assert messages(judged(guarded, {"assert_tool_call": {"tool": "list", "at": "mcp"}})) == []

    def test_dispatches_of_one_message_may_come_in_any_order(self, judged: Judge, run: Run) -> None:
        evidence = (
            run(lanes={"fs": ("a", "b")})
            .turn(("a", {}), ("b", {}))
            .sent("fs", "b", {}, "1.1")
            .sent("fs", "a", {}, "1.0")
            .evidence()
        )
        assert messages(judged(evidence, *calls("a", "b"))) == []
        assert messages(judged(evidence, *calls("b", "a"))) == []

    def test_an_undeclared_server_is_known_by_the_name_its_client_gives(self, judged: Judge, run: Run) -> None:
        evidence = run(offers=("mcp__fs__delete",)).turn(("mcp__fs__delete", {})).evidence()
        assert messages(judged(evidence, {"assert_no_tool_call": "delete"})) != []

    def test_the_result_of_a_dispatch_is_what_its_server_returned(self, judged: Judge, guarded: Evidence) -> None:
        assert messages(judged(guarded, *calls("list where result.0 equals a"))) == []


def test_a_run_whose_last_turn_asks_for_tools_has_no_reply(judged: Judge, run: Run) -> None:
    evidence = run().turn(text="thinking").turn(("a", {}), text="one moment").evidence()
    for demand in ("contains moment", "not contains moment"):
        assert messages(judged(evidence, {"assert": f"reply {demand}"})) == [
            f"reply.missing: expected the reply: {demand}; there is none yet: the last turn (2) asks for a"
        ]


def test_one_call_more_than_results_is_a_failure(run: Run) -> None:
    evidence = run().turn(("a", {}), ("b", {})).turn(("a", {})).evidence()
    assert judge([], evidence, limits=[CallLimit("a", 2, "f:3")]).findings == ()
    [finding] = judge([], evidence, limits=[CallLimit("a", 1, "f:3")]).findings
    assert (finding.id, finding.where, finding.message) == (
        "tool.results.exhausted",
        "f:3",
        "a was called 2 times, but has 1 result",
    )


def test_steps_of_other_engines_come_back_unjudged(run: Run) -> None:
    steps = [PlacedStep(Prompt("go"), 1, "f:1"), PlacedStep(NoEgress(), 2, "f:2")]
    judgement = judge(steps, run().turn().evidence())
    assert (judgement.unjudged, judgement.steps) == ((steps[1],), ())
