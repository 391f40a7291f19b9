"""A spec as flowproof understood it: its steps in one grammar whichever way they were written, and what it needs."""

from __future__ import annotations

from collections.abc import Iterator

from flowproof_runner.expectations.ast import CallAssertion, PlacedStep, Prompt
from flowproof_runner.expectations.words import step_words
from flowproof_runner.spec.capabilities import needed
from flowproof_runner.spec.file import LoadedSpec
from flowproof_runner.spec.tools import Tool

_MEANS = {
    "call": "a call, in the order of these steps",
    "no_call": "nowhere in the run",
    "request": "asked for by the model, in the order of these steps",
    "no_request": "never asked for by the model",
}


def explain(spec: LoadedSpec) -> str:
    """What will be done and judged, in lines of text."""
    return "\n".join(_lines(spec))


def _lines(spec: LoadedSpec) -> Iterator[str]:
    yield "steps as understood:"
    if not spec.user_turns:
        yield f"  task: {spec.task!r}"
    for number, text in enumerate(spec.user_turns, start=1):
        yield f"  user turn {number}: {text!r}"
        yield from (f"  {line}" for line in _steps(spec, number))
    yield from _steps(spec, None)
    if spec.spec.strict:
        yield f"  {spec.document.where(('strict',))}: strict: every call must be claimed by an assert_tool_call"
    for tool in spec.spec.tools:
        yield f"tool {tool.name}: {_tool(tool)}"
    for number, fault in enumerate(spec.spec.faults):
        often = "" if fault.times == 1 else f", {fault.times} times in a row"
        yield f"fault {spec.document.where(('faults', number))}: {fault.label}{often}"
    yield f"needs: {', '.join(sorted({capability for _, capability in needed(spec.document.root)}))}"


def _steps(spec: LoadedSpec, user_turn: int | None) -> Iterator[str]:
    for placed in spec.steps:
        if placed.user_turn == user_turn and not isinstance(placed.step, Prompt):
            yield f"  {placed.where}: {step_words(placed.step)}{_meaning(placed)}"


def _meaning(placed: PlacedStep) -> str:
    if not isinstance(placed.step, CallAssertion):
        return ""
    means = _MEANS[placed.step.kind]
    return f"  ({means if placed.user_turn is None else means.replace('in the run', 'in this user turn')})"


def _tool(tool: Tool) -> str:
    error = ", an error" if tool.is_error else ""
    if tool.repeated:
        return f"every call is told the spec's result{error}"
    if tool.results:
        return f"its {len(tool.results)} calls are told the spec's results in order{error}; a further call fails"
    if tool.cases:
        return f"calls are told the first of {len(tool.cases)} cases that fits, else their own result"
    return "declared only; the model is told its own result"
