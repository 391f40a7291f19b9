"""Whatever can be said in prose and in YAML is the same value once read."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from flowproof_runner.expectations.ast import CallAssertion, Clause
from flowproof_runner.matchers.matchers import Equals, Exactly, Subset, operand
from flowproof_runner.matchers.path import Path
from flowproof_runner.spec.file import LoadedSpec

type Load = Callable[..., LoadedSpec]


@pytest.mark.parametrize(
    ("key", "prose", "structured"),
    [
        ("assert_tool_call", "a", "{ tool: a }"),
        ("assert_no_tool_call", "fs/a", "{ tool: fs/a }"),
        ("assert_tool_request", "a where x is 5", "{ tool: a, where: { x: 5 } }"),
        ("assert_no_tool_request", 'a where x is "5"', '{ tool: a, where: { x: "5" } }'),
        ("assert_tool_call", "a where x is 1.10", "{ tool: a, where: { x: 1.10 } }"),
        ("assert_tool_call", "a where x is true and y is null", "{ tool: a, where: { x: True, y: ~ } }"),
        ("assert_tool_call", "a where x is 31", "{ tool: a, where: { x: 0x1F } }"),
        (
            "assert_tool_call",
            "a where x equals b and y.0 exists",
            "{ tool: a, where: { x: b, y.0: { exists: true } } }",
        ),
        ("assert_tool_call", "a where x equals b and y.0 exists", "{ tool: a, where: x equals b and y.0 exists }"),
        ("assert_tool_call", "a where x contains b", "{ tool: a, where: { x: { contains: b } } }"),
        ("assert_tool_call", "a where x matches ^b$", "{ tool: a, where: { x: { matches: ^b$ } } }"),
        ("assert_tool_call", "a where x is absent", "{ tool: a, where: { x: { absent: true } } }"),
        ("assert_tool_call", "a where x >= 1 and x < 2.5", "{ tool: a, where: { x: { '>=': 1, <: 2.5 } } }"),
        ("assert_tool_call", "a where x in [b, 2]", "{ tool: a, where: { x: { in: [b, 2] } } }"),
        ("assert_tool_call", "a where x is not b", "{ tool: a, where: { x: { not: b } } }"),
        ("assert_tool_call", "a where x not in [b]", "{ tool: a, where: { x: { not: { in: [b] } } } }"),
        ("assert_tool_call", "a where result.id is 5", "{ tool: a, where: { result.id: 5 } }"),
        ("assert_tool_call", 'a where "result".id is 5', "{ tool: a, where: { '\"result\".id': 5 } }"),
        ("assert_tool_call", "a where result.is_error is true", "{ tool: a, is_error: true }"),
        ("assert", "reply contains x y", "{ reply: { contains: x y } }"),
        ("assert", "reply is x", "{ reply: { is: x } }"),
        ("assert", "reply equals 5", "{ reply: { equals: 5 } }"),
        ("assert", "reply matches ^a", "{ reply: { matches: ^a } }"),
        ("assert", "reply not contains x", "{ reply: { not: { contains: x } } }"),
    ],
)
def test_twins_are_equal(spec: Load, key: str, prose: str, structured: str) -> None:
    quoted = prose.replace("'", "''")
    loaded = spec(f"steps:\n- prompt: go\n- {key}: '{quoted}'\n- {key}: {structured}\n")
    assert loaded.steps[1].step == loaded.steps[2].step


def test_what_only_yaml_can_say(spec: Load) -> None:
    loaded = spec(
        "steps:\n- prompt: go\n- assert_tool_call:\n    tool: a\n    args: { x: [1, y], z: 1.0 }\n    result: ~\n"
        "    times: 2\n    at: model\n"
        "- assert_tool_call: { tool: a, args_exact: {}, where: { x: { equals: { k: 1 } } } }\n"
    )
    assert [placed.step for placed in loaded.steps[1:]] == [
        CallAssertion(
            "call",
            "a",
            (Clause(Path(), Subset({"x": [1, "y"], "z": 1.0})), Clause(Path(), Subset(None), "result")),
            2,
            "model",
        ),
        CallAssertion(
            "call", "a", (Clause(Path(("x",)), Equals(operand({"k": 1}))), Clause(Path(), Exactly({}))), None, None
        ),
    ]
