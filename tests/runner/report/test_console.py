"""The console report, as a person reads it."""

from __future__ import annotations

import pytest

from flowproof_runner.report.console import line, summary
from flowproof_runner.report.style import Style, wanted
from flowproof_runner.result import FaultUse, RunResult

PLAIN = Style()

MIXED = """\

 FAIL  specs/refund.flow.yaml · Refund | needs approval

  ✗ request 2 is not the recorded one: messages[0].content differs [model.divergence]
    at specs/refund.flow.yaml:9
    messages[0].content
      - recorded: 'Be kind.'
      + sent:     'Be <curt>.'
    record again if the change is meant
  · the agent exited with code 1 [agent.exit]

  the agent exited with code 1 after 0.4 s; the end of its stderr (runs/02-refund/stderr.txt):
    │ Traceback (most recent call last):
    │ openai.BadRequestError: not the recorded one
  timeline: flowproof show runs/02-refund/trace.json

 ERROR  specs/broken.flow.yaml

  ✗ specs/broken.flow.yaml:3:1: stepz: unknown key; accepted are: agent, name [flow.error]
    and more
    at specs/broken.flow.yaml:3

pin   specs/booking.flow.yaml: today fired 2 times (the prompt holds the date)

SKIP  specs/live.flow.yaml · Live  (OPENAI_API_KEY is not set)

network: not contained
1 failed, 1 in error, 1 passed, 1 skipped in 1.8 s · runs
"""


def test_each_flow_that_ran_is_one_line(mixed: RunResult) -> None:
    assert [line(flow, PLAIN) for flow in mixed.flows if flow.verdict != "skip"] == [
        "PASS     0.8 s        3 turns  specs/booking.flow.yaml · Books a flight",
        "FAIL     0.9 s   2 of 3 turns  specs/refund.flow.yaml · Refund | needs approval",
        "ERROR    0.0 s        0 turns  specs/broken.flow.yaml",
    ]


def test_the_summary_says_what_failed_where_how_and_what_to_do(mixed: RunResult) -> None:
    assert summary(mixed, PLAIN) == MIXED


def test_what_was_skipped_is_told_once_for_each_reason(mixed: RunResult) -> None:
    *_, live = mixed.flows
    other = live.model_copy(update={"spec": "specs/other.flow.yaml", "reason": "CERTIFY is not set"})
    run = mixed.model_copy(update={"flows": (live, live, other, live)})
    assert (
        "\nSKIP  specs/live.flow.yaml · Live and 2 more  (OPENAI_API_KEY is not set)\n"
        "SKIP  specs/other.flow.yaml · Live  (CERTIFY is not set)\n"
    ) in summary(run, PLAIN)


def test_a_passing_run_is_short(passed: RunResult) -> None:
    quiet = passed.model_copy(update={"flows": (passed.flows[0].model_copy(update={"pins": ()}),)})
    assert summary(quiet, PLAIN) == "\nnetwork: not contained\n1 passed in 1.8 s · runs\n"


def test_a_cause_shared_by_flows_is_one_item(same_twice: RunResult) -> None:
    text = summary(same_twice, PLAIN)
    assert text.count("+ sent:") == text.count("FAIL") == 1
    assert (
        "One cause in 2 flows: request 2 is not the recorded one: messages[0].content differs\n"
        "  specs/refund.flow.yaml, specs/other.flow.yaml\n"
        "  If the change is meant, accept it in all: "
        "flowproof heal --apply specs/refund.flow.yaml specs/other.flow.yaml\n"
    ) in text


def test_a_flow_with_another_finding_beside_the_shared_one_is_shown(same_twice: RunResult) -> None:
    first, second = same_twice.flows
    own = second.findings[0].model_copy(update={"id": "reply.differs", "message": "no reply", "detail": "", "path": ""})
    second = second.model_copy(update={"findings": (*second.findings, own)})
    text = summary(same_twice.model_copy(update={"flows": (first, second)}), PLAIN)
    assert text.count("+ sent:") == 1
    assert "the same as in specs/refund.flow.yaml above" in text
    assert "no reply [reply.differs]" in text


def test_a_run_of_nothing_but_skips_says_that_nothing_was_tested(all_skipped: RunResult) -> None:
    assert summary(all_skipped, PLAIN).endswith("1 skipped; nothing was tested in 1.8 s · runs\n")


def test_a_recording_is_called_one(recorded: RunResult) -> None:
    assert line(recorded.flows[0], PLAIN).startswith("SAVED")
    assert summary(recorded, PLAIN) == "\nnetwork: not contained\n1 recorded in 1.8 s · runs\n"


def test_an_unused_pin_is_told(passed: RunResult) -> None:
    flow = passed.flows[0]
    unused = flow.model_copy(update={"pins": (flow.pins[0].model_copy(update={"count": 0}),)})
    assert "today was never needed: remove it" in summary(passed.model_copy(update={"flows": (unused,)}), PLAIN)


def test_nothing_the_agent_or_a_spec_says_reaches_the_terminal_as_a_command(mixed: RunResult) -> None:
    flow = mixed.flows[1]
    found = flow.findings[0].model_copy(update={"message": "a\x1b]0;owned\x07b", "detail": "\x1b[2Jgone"})
    hostile = flow.model_copy(update={"name": "\x1b[31mred", "findings": (found,), "notes": ("\x9b5mblink",)})
    run = mixed.model_copy(update={"flows": (hostile,)})
    assert "\x1b" not in summary(run, PLAIN) + line(hostile, PLAIN)
    assert "\x9b" not in summary(run, PLAIN)


def test_colour_changes_no_word(mixed: RunResult) -> None:
    from flowproof_runner.drivers.tail import clean

    coloured = summary(mixed, Style(colour=True))
    assert "\x1b[31" in coloured
    assert clean(coloured) == MIXED


@pytest.mark.parametrize(
    "environment, terminal, expected",
    [
        ({}, True, True),
        ({}, False, False),
        ({"NO_COLOR": "1"}, True, False),
        ({"NO_COLOR": ""}, True, True),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, True, False),
        ({"TERM": "dumb"}, True, False),
    ],
)
def test_when_colour_is_wanted(environment: dict[str, str], terminal: bool, expected: bool) -> None:
    assert wanted(environment, terminal) is expected


def test_tiers_that_differ_are_counted_and_skipped_flows_have_none(mixed: RunResult) -> None:
    first, *others = (flow for flow in mixed.flows if flow.verdict != "skip")
    held = first.model_copy(update={"containment": "enforced (linux seccomp)"})
    run = mixed.model_copy(update={"flows": (held, *others)})
    assert "network: enforced (linux seccomp) · 1 flow\nnetwork: not contained · 2 flows\n" in summary(run, PLAIN)


def test_a_note_of_several_flows_is_one(same_twice: RunResult) -> None:
    flows = tuple(flow.model_copy(update={"notes": ("the cassette is old",)}) for flow in same_twice.flows)
    text = summary(same_twice.model_copy(update={"flows": flows}), PLAIN)
    assert "note  specs/refund.flow.yaml, specs/other.flow.yaml: the cassette is old\n" in text


def test_faults_are_told_with_how_often_they_happened_and_what_became_of_them(passed: RunResult) -> None:
    faults = (
        FaultUse(name="turn 2: answer 429", count=2, times=2),
        FaultUse(name="turn 3: no answer for 9 s", count=1, remarks=("the agent gave up after 2.0 s",)),
        FaultUse(name="turn 9: cut in half", count=0),
    )
    flow = passed.flows[0].model_copy(update={"pins": (), "faults": faults})
    assert summary(passed.model_copy(update={"flows": (flow,)}), PLAIN).splitlines()[1:4] == [
        "fault specs/booking.flow.yaml: turn 2: answer 429: 2 times",
        "fault specs/booking.flow.yaml: turn 3: no answer for 9 s: once (the agent gave up after 2.0 s)",
        "fault specs/booking.flow.yaml: turn 9: cut in half: never",
    ]


def test_a_name_of_several_lines_cannot_pass_for_a_verdict(passed: RunResult) -> None:
    flow = passed.flows[0].model_copy(update={"name": "Books\nPASS  other.flow.yaml"})
    assert "\n" not in line(flow, PLAIN)
