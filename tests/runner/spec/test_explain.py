"""A reader sees how a spec was understood."""

from __future__ import annotations

from collections.abc import Callable

from flowproof_runner.spec.explain import explain
from flowproof_runner.spec.file import LoadedSpec


def test_the_whole_text(spec: Callable[..., LoadedSpec]) -> None:
    loaded = spec(
        """\
tools: [ { name: a, result: 1 }, { name: b, results: [1, 2], is_error: true }, { name: c } ]
steps:
- prompt: Do it
- assert_tool_call: a where   x is   5 and result.is_error is false
- assert_tool_call: { tool: a, args: { x: 1 }, times: 2, at: model }
- assert_no_tool_call: b
- assert_tool_request: b where "a b" not exists
- assert: reply is done
- assert_no_egress
strict: true
"""
    )
    file = loaded.document.file
    assert explain(loaded).splitlines() == [
        "steps as understood:",
        "  task: 'Do it'",
        f"  {file}:4: assert_tool_call: a where x equals 5 and result.is_error equals false"
        "  (a call, in the order of these steps)",
        f'  {file}:5: assert_tool_call: a where includes {{"x": 1}}, 2 times, at model'
        "  (a call, in the order of these steps)",
        f"  {file}:6: assert_no_tool_call: b  (nowhere in the run)",
        f'  {file}:7: assert_tool_request: b where "a b" not exists'
        "  (asked for by the model, in the order of these steps)",
        f"  {file}:8: assert: reply contains done",
        f"  {file}:9: assert_no_egress",
        f"  {file}:10: strict: every call must be claimed by an assert_tool_call",
        "tool a: every call is told the spec's result",
        "tool b: its 2 calls are told the spec's results in order, an error; a further call fails",
        "tool c: declared only; the model is told its own result",
        "needs: command, egress, strict, tools",
    ]
