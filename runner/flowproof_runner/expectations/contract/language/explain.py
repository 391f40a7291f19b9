"""An expectation as one line of prose, in which nothing is abbreviated or left out."""

from __future__ import annotations

import json
from typing import assert_never

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.expectations.contract.language.printing import show_formula, show_path, show_term, show_tool
from flowproof_runner.expectations.contract.model import (
    AnyExpectation,
    Arguments,
    Budget,
    Calls,
    Confirmation,
    Each,
    Holds,
    Lane,
    Order,
    Outcome,
    Precedence,
)
from flowproof_runner.expectations.contract.terms import Formula


def line(expectation: AnyExpectation) -> str:
    """What is expected, in one line.

    It reads back as the expectation, but for what no line can say: elements of a collection, catalogues, and counts
    that a version 0.1 contract calls by another finding.
    """
    match expectation:
        case Calls():
            return _calls(expectation)
        case Order(tools=tools):
            return " then ".join(map(show_tool, tools))
        case Precedence():
            return _precedence(expectation)
        case Arguments():
            return _arguments(expectation)
        case Confirmation():
            return f"{show_tool(expectation.tool)} needs {_approval(expectation)}"
        case Outcome():
            return _outcome(expectation)
        case Budget():
            return f"at most {', '.join(_bounds(expectation)) or 'anything'}"
        case Lane():
            return _lane(expectation)
        case Holds(such=such, when=when):
            return show_formula(such) + _clause("when", when)
        case Each(over=over, name=name, body=body):
            return f"for each {name} of {show_term(over)}: {'; '.join(map(line, body))}"
        case _:
            assert_never(expectation)


def _calls(e: Calls) -> str:
    tools = ", ".join(map(show_tool, e.tools)) if e.tools else "calls"
    at = " requested" if e.at == "request" else ""
    tail = _clause("where", e.such) + _clause("required when" if e.only_when else "when", e.when)
    if e.kind == "forbidden":
        return f"{tools} never{at}{tail}"
    if e.as_many_as is not None:
        return f"{tools}{at} as many as {show_term(e.as_many_as)}{tail}"
    if e.only_when and (e.at_least, e.at_most) == (1, None):
        return f"{tools}{at}{tail}"
    if e.at_least == e.at_most:
        count = f"exactly {e.at_least}"
    else:
        bounds = ((e.at_least, "at least"), (e.at_most, "at most"))
        count = " and ".join(f"{word} {n}" for n, word in bounds if n is not None)
    return f"{count} {'of ' if len(e.tools) > 1 else ''}{tools}{at}{tail}"


def _precedence(e: Precedence) -> str:
    word = {"informed": "", "first": "first ", "all": "every "}[e.scope]
    every = "every " if e.per and e.required else ""
    per = f" per {_paths(e.per)}" if e.per else ""
    return f"{word}{show_tool(e.before)} before {every}{show_tool(e.after)}{per}"


def _arguments(e: Arguments) -> str:
    text = show_tool(e.tool) if e.call is None else f"call {e.call + 1} of {show_tool(e.tool)}"
    text += _clause("where", e.such)
    if e.distinct:
        text += f" distinct {_paths(e.distinct)}"
    if e.schema is not None:
        text += f" by schema {_json(e.schema)}"
    return text + _clause("when", e.when)


def _approval(e: Confirmation) -> str:
    if not e.prompts:
        bound = " with same arguments" if e.bound else ""
        asked = "confirmation" if e.by == "any" else f"{show_tool(e.by)} approved"
        return asked + bound + _clause("answering", e.approves)
    text = f"prompt {' or '.join(map(str, e.prompts))}"
    text += f" until prompt {e.until}" if e.until is not None else ""
    return text + _clause("where", e.such)


def _outcome(e: Outcome) -> str:
    parts = [f"status {_json(e.status)}"] if e.status is not None else []
    parts += [show_formula(e.such)] if e.such is not None else []
    parts += [f"schema {_json(e.schema)}"] if e.schema is not None else []
    return " and ".join(parts) + _clause("when", e.when)


def _bounds(e: Budget) -> list[str]:
    named = [f"{bound} {unit}" for bound, unit in ((e.turns, "turns"), (e.tokens, "tokens")) if bound is not None]
    return named if e.duration_ms is None else [*named, _ms(e.duration_ms)]


def _lane(e: Lane) -> str:
    parts: list[str] = []
    if e.call_ms is not None:
        parts.append(f"{f'{e.share:g}% ' if e.share is not None else ''}within {_ms(e.call_ms)}")
    if e.result_bytes is not None:
        parts.append(f"at most {e.result_bytes}B")
    if e.errors:
        parts.append("without errors")
    if e.tools is not None:
        parts.append(f"with the {len(e.tools) if isinstance(e.tools, list) else 0} tools of its snapshot")
    if e.capabilities is not None:
        parts.append("with the capabilities of its snapshot")
    return f"{show_tool(e.server) if e.server else 'every server'} answers {', '.join(parts) or 'anything'}"


def _ms(value: float) -> str:
    return f"{int(value) if value == int(value) else value}ms"


def _clause(word: str, formula: Formula | None) -> str:
    return "" if formula is None else f" {word} {show_formula(formula)}"


def _paths(paths: tuple[tuple[str, ...], ...]) -> str:
    return ", ".join(map(show_path, paths))


def _json(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False)
