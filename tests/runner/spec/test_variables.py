"""References stay as written in a loaded spec and become values only in a resolved one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from flowproof_addons.trace.model import Phase
from flowproof_runner.expectations.ast import CallAssertion, ReplyAssertion
from flowproof_runner.matchers.matchers import Equals, Matches, Operand, holds
from flowproof_runner.reading.problems import SpecError
from flowproof_runner.spec.file import LoadedSpec
from flowproof_runner.spec.resolve import resolved, secrets, unhidden
from flowproof_runner.spec.variables import UnsetError, filled, names

type Load = Callable[..., LoadedSpec]

FULL = """\
agent:
  command: run ${WORD} ${flowproof.prompt}
  cwd: ${DIR}
  env: { URL: "http://${HOST}/${flowproof.proxy_url}", COST: "$${HOST}" }
tools:
- { name: a, result: { id: "${ID}", "${KEY}": [ "${ID}" ] } }
steps:
- prompt: Find ${ID}
- assert_tool_call: a where id equals ${ID} and x.0 matches ^${DOTS}$ and y in [${ID}, b]
- assert_tool_call: { tool: a, args: { id: "${ID}" }, where: { n: { "<": 5 } } }
- assert: reply contains ${ID}
"""
ENVIRON = {"WORD": "two words", "DIR": "d", "HOST": "h", "ID": "5", "DOTS": "a.b"}


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("${A}-${A}", "x-x"),
        ("$A $$ ${flowproof.prompt}", "$A $$ ${flowproof.prompt}"),
        ("$${A} $${not-a-name}", "${A} ${not-a-name}"),
        ("$${flowproof.prompt}", "$${flowproof.prompt}"),  # the driver that knows the handles takes the escape off
        ("$$${A}", "$${A}"),
        ("${B}", "${A}"),  # a value is never looked at again
    ],
)
def test_filling_in(text: str, result: str) -> None:
    assert filled(text, {"A": "x", "B": "${A}"}) == result


def test_an_unset_variable_is_named() -> None:
    with pytest.raises(UnsetError, match=r"^NOPE$"):
        filled("a ${NOPE}", {"NO": "x"})
    assert names("${A} $${B} ${flowproof.x} ${C}") == ("A", "C")


def test_a_loaded_spec_keeps_references(spec: Load) -> None:
    loaded = spec(FULL)
    assert loaded.spec.agent.command == ("run", "${WORD}", "${flowproof.prompt}")
    assert loaded.task == "Find ${ID}"
    assert "two words" not in repr(loaded)


def test_a_resolved_spec_has_values_everywhere(spec: Load) -> None:
    loaded = resolved(spec(FULL), ENVIRON, "record")
    agent = loaded.spec.agent
    assert agent.command == ("run", "two words", "${flowproof.prompt}")  # one word stays one word
    assert (agent.cwd, agent.env) == ("d", {"URL": "http://h/${flowproof.proxy_url}", "COST": "${HOST}"})
    assert loaded.spec.tools[0].result == {"id": "5", "${KEY}": ["5"]}  # keys are not values
    assert loaded.task == "Find 5"
    first, second, third = [placed.step for placed in loaded.steps[1:]]
    assert isinstance(first, CallAssertion) and isinstance(second, CallAssertion) and isinstance(third, ReplyAssertion)
    assert first.clauses[0].matcher == Equals(Operand(5, "5"))
    assert holds(first.clauses[0].matcher, 5) and holds(first.clauses[0].matcher, "5")
    assert holds(third.matcher, "ticket 5")
    assert [placed.where for placed in loaded.steps] == [placed.where for placed in spec(FULL).steps]


def test_a_value_in_a_regular_expression_stands_for_its_own_characters(spec: Load) -> None:
    step = resolved(spec(FULL), ENVIRON, "record").steps[1].step
    assert isinstance(step, CallAssertion)
    matcher = step.clauses[1].matcher
    assert isinstance(matcher, Matches)
    assert (holds(matcher, "a.b"), holds(matcher, "axb")) == (True, False)


def test_values_that_make_a_pattern_explosive_are_refused_and_not_shown(spec: Load) -> None:
    loaded = spec("steps:\n- prompt: go\n- assert: reply matches ^(${A}|${B})*$\n")
    assert resolved(loaded, {"A": "left", "B": "right"}, "record")
    with pytest.raises(SpecError, match=r"\$\{A\}.*could search for ever") as caught:
        resolved(loaded, {"A": "same", "B": "same"}, "record")
    assert "same" not in str(caught.value)


def test_resolving_touches_nothing_that_was_not_written(spec: Load) -> None:
    loaded = spec("tools: [{name: a}, {name: b, result: 1}]")
    assert resolved(loaded, {}, "record").spec == loaded.spec
    assert [tool.mocked for tool in resolved(loaded, {}, "record").spec.tools] == [False, True]


def test_every_unset_variable_is_an_error_with_its_place(spec: Load) -> None:
    with pytest.raises(SpecError) as caught:
        resolved(spec(FULL), {"ID": "5", "DOTS": ""}, "record")
    places = [(problem.line, problem.key, problem.message.split(" ")[2]) for problem in caught.value.problems]
    assert places == [
        (2, "agent.command", "WORD"),
        (3, "agent.cwd", "DIR"),
        (4, "agent.env.URL", "HOST"),
    ]


MCP = """\
mcp:
- { name: s, url: "${MCP_URL}", headers: { Authorization: "Bearer ${TOKEN}" }, tools: [ { name: t, result: "${R}" } ] }
"""


def test_what_only_recording_needs_may_be_unset_at_replay(spec: Load) -> None:
    assert resolved(spec(MCP), {"R": "r"}, "replay").spec.mcp[0].url == "${MCP_URL}"
    for environ, phase, unset in (({"R": "r"}, "record", 2), ({}, "replay", 1)):
        with pytest.raises(SpecError) as caught:
            resolved(spec(MCP), environ, phase)  # type: ignore[arg-type]  # mypy widens the loop's literals
        assert len(caught.value.problems) == unset


def test_secrets_are_named_for_the_redactor_and_never_resolved_into_a_step(spec: Load) -> None:
    loaded = spec(
        'redact: { values: [ "${PASSWORD}", "${UNSET}", literal ] }\n'
        "steps:\n- prompt: go\n- assert_no_secret_leak: ${API_TOKEN}\n"
    )
    environ = {"PASSWORD": "hunter2", "API_TOKEN": "t0ken"}
    assert secrets(loaded, environ) == {"PASSWORD": "hunter2", "API_TOKEN": "t0ken", "REDACTED_2": "literal"}
    assert "t0ken" not in repr(resolved(loaded, environ, "replay").steps)
    with pytest.raises(SpecError, match="API_TOKEN is not set"):
        resolved(loaded, {}, "replay")


@pytest.mark.parametrize("phase", ["record", "replay"])
def test_a_secret_that_is_too_short_to_be_hidden_is_refused_and_not_shown(phase: Phase, spec: Load) -> None:
    loaded = spec('redact:\n  values: [ "${LONG}", "${SHORT}" ]\n')
    with pytest.raises(SpecError) as caught:
        resolved(loaded, {"LONG": "hunter2", "SHORT": "pw123"}, phase)
    (problem,) = caught.value.problems
    assert (problem.line, problem.key) == (2, "redact.values.1")
    assert "SHORT is too short: 5 characters cannot be hidden" in problem.message
    assert "pw123" not in str(problem)


def test_a_secret_that_is_not_set_is_told_when_recording(spec: Load) -> None:
    loaded = spec('redact: { values: [ "${GONE}", "${HERE}", literal ] }\n')
    (note,) = unhidden(loaded, {"HERE": "hunter2"})
    assert note.startswith("redact.values: GONE is not set")
    assert resolved(loaded, {}, "replay").spec.redact.values == ("${GONE}", "${HERE}", "literal")
