"""What GitHub is told."""

from __future__ import annotations

from flowproof_runner.report.github import commands, step_summary
from flowproof_runner.result import RunResult


def test_each_cause_is_an_annotation_at_its_line(mixed: RunResult) -> None:
    assert commands(mixed, "apps/bot") == (
        "::error file=apps/bot/specs/refund.flow.yaml,line=9,"
        "title=specs/refund.flow.yaml · Refund | needs approval::"
        "request 2 is not the recorded one: messages[0].content differs%0Amessages[0].content"
        "%0A  - recorded: 'Be kind.'%0A  + sent:     'Be <curt>.'%0Arecord again if the change is meant\n"
        "::error file=apps/bot/specs/broken.flow.yaml,line=3,title=specs/broken.flow.yaml::"
        "specs/broken.flow.yaml:3:1: stepz: unknown key; accepted are: agent, name%0Aand more\n"
    )


def test_nothing_in_a_message_becomes_a_command_of_its_own(mixed: RunResult) -> None:
    flow = mixed.flows[1]
    found = flow.findings[0].model_copy(update={"message": "100%\r\n::set-output name=x::y", "detail": ""})
    hostile = mixed.model_copy(update={"flows": (flow.model_copy(update={"findings": (found,), "name": "a,b: c"}),)})
    assert commands(hostile) == (
        "::error file=specs/refund.flow.yaml,line=9,title=specs/refund.flow.yaml · a%2Cb%3A c::"
        "100%25%0D%0A::set-output name=x::y\n"
    )


def test_a_cause_of_several_flows_is_one_annotation_and_one_item(same_twice: RunResult) -> None:
    assert commands(same_twice).count("::error") == 1
    page = step_summary(same_twice)
    assert page.count("+ sent:") == 1
    assert (
        "**One cause in 2 flows:** request 2 is not the recorded one: messages[0].content differs\n\n"
        "- specs/refund.flow.yaml\n- specs/other.flow.yaml\n\n"
        "If the change is meant, accept it in all: flowproof heal --apply specs/refund.flow.yaml specs/other.flow.yaml"
    ) in page


def test_a_passing_run_annotates_nothing(passed: RunResult) -> None:
    assert commands(passed) == ""


def test_the_step_summary_is_a_table_and_the_failures(mixed: RunResult) -> None:
    assert (
        step_summary(mixed)
        == """\
### flowproof run: 💥 error

| verdict | flow | turns | time | containment |
|---|---|---|---|---|
| ✅ pass | specs/booking.flow.yaml · Books a flight | 3 turns | 0.8 s | not contained |
| ❌ fail | specs/refund.flow.yaml · Refund \\| needs approval | 2 of 3 turns | 0.9 s | not contained |
| 💥 error | specs/broken.flow.yaml | 0 turns | 0.0 s | not contained |
| ⏭️ skip | specs/live.flow.yaml · Live | 0 turns | 0.0 s | not contained |

<details><summary>specs/refund.flow.yaml · Refund | needs approval: request 2 is not the recorded one: \
messages[0].content differs</summary>

    at specs/refund.flow.yaml:9
    messages[0].content
      - recorded: 'Be kind.'
      + sent:     'Be <curt>.'
    record again if the change is meant

</details>

<details><summary>specs/broken.flow.yaml: specs/broken.flow.yaml:3:1: stepz: unknown key; \
accepted are: agent, name and more</summary>

    at specs/broken.flow.yaml:3

</details>
"""
    )
