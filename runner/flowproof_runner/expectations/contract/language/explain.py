"""An expectation as one line for people and as the YAML that reads back as it."""

from __future__ import annotations

from typing import assert_never

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.expectations.contract.language.printing import show_formula, show_path, show_term
from flowproof_runner.expectations.contract.model import (
    AnyExpectation,
    Arguments,
    Budget,
    Calls,
    Confirmation,
    Contract,
    Each,
    Holds,
    Lane,
    Order,
    Outcome,
    Precedence,
)
from flowproof_runner.expectations.contract.terms import Formula, Term

SECTIONS: dict[type[AnyExpectation], str] = {
    Calls: "calls",
    Order: "order",
    Precedence: "order",
    Arguments: "args",
    Confirmation: "confirm",
    Outcome: "outcome",
    Budget: "budget",
    Lane: "mcp",
    Holds: "holds",
    Each: "each",
}


def line(expectation: AnyExpectation) -> str:
    """What is expected, in one line."""
    match expectation:
        case Calls():
            return _calls(expectation)
        case Order(tools=tools):
            return " then ".join(tools)
        case Precedence():
            return _precedence(expectation)
        case Arguments():
            return _arguments(expectation)
        case Confirmation():
            return f"{expectation.tool} needs {_approval(expectation)}"
        case Outcome():
            return _outcome(expectation)
        case Budget():
            return "at most " + ", ".join(f"{value} {name}" for name, value in _budget(expectation).items())
        case Lane():
            return f"mcp {expectation.server or '*'} keeps to its limits"
        case Holds(such=such, when=when):
            return show_formula(such) + (f" when {show_formula(when)}" if when is not None else "")
        case Each(over=over, name=name, body=body):
            return f"for each {name} of {show_term(over)}: {'; '.join(map(line, body))}"
        case _:
            assert_never(expectation)


def structured(expectation: AnyExpectation) -> dict[str, JsonValue]:
    """The canonical YAML form, which the grammar reads back as an equal expectation."""
    match expectation:
        case Calls():
            return _drop(
                calls=list(expectation.tools),
                where=_formula(expectation.such),
                at_least=expectation.at_least,
                at_most=expectation.at_most,
                as_many_as=_term(expectation.as_many_as),
                when=_formula(expectation.when),
                only_when=expectation.only_when or None,
                at=None if expectation.at == "call" else expectation.at,
                kind=None if expectation.kind == "count" else expectation.kind,
            )
        case Order(tools=tools):
            return {"order": list(tools)}
        case Precedence():
            return _drop(
                before=expectation.before,
                after=expectation.after,
                scope=None if expectation.scope == "informed" else expectation.scope,
                per=[show_path(path) for path in expectation.per] or None,
                required=None if expectation.required else False,
            )
        case Arguments():
            return _drop(
                tool=expectation.tool,
                call=None if expectation.call is None else expectation.call + 1,
                where=_formula(expectation.such),
                schema=expectation.schema,
                distinct=[show_path(path) for path in expectation.distinct] or None,
                when=_formula(expectation.when),
            )
        case Confirmation():
            return _drop(
                tool=expectation.tool,
                by=None if expectation.by == "any" or expectation.prompts else expectation.by,
                prompt=list(expectation.prompts) or None,
                until=expectation.until,
                where=_formula(expectation.such),
                same_arguments=expectation.bound or None,
                approves=_formula(expectation.approves),
            )
        case Outcome():
            return _drop(
                status=expectation.status,
                where=_formula(expectation.such),
                schema=expectation.schema,
                when=_formula(expectation.when),
            )
        case Budget():
            return _budget(expectation)
        case Lane():
            return _drop(
                server=expectation.server,
                call_ms=expectation.call_ms,
                result_bytes=expectation.result_bytes,
                errors=expectation.errors or None,
                tools=expectation.tools,
                capabilities=expectation.capabilities,
            )
        case Holds(such=such, when=when):
            return _drop(holds=_formula(such), when=_formula(when))
        case Each(over=over, name=name, body=body):
            return {"for": f"{show_term(over)} as {name}", "expect": [structured(inner) for inner in body]}
        case _:
            assert_never(expectation)


def explain(contract: Contract) -> dict[str, JsonValue]:
    """A whole contract as canonical `expect:`, which the grammar reads back."""
    sections: dict[str, JsonValue] = {"strict": True} if contract.strict else {}
    for expectation in contract.expectations:
        section = sections.setdefault(SECTIONS[type(expectation)], [])
        assert isinstance(section, list)
        section.append(structured(expectation))
    return sections


def _calls(e: Calls) -> str:
    tools = ", ".join(e.tools) if e.tools else "calls"
    such = f" where {show_formula(e.such)}" if e.such is not None else ""
    when = f" {'required ' if e.only_when else ''}when {show_formula(e.when)}" if e.when is not None else ""
    if e.kind == "forbidden":
        return f"{tools} never{' requested' if e.at == 'request' else ''}{such}{when}"
    if e.as_many_as is not None:
        return f"{tools} as many as {show_term(e.as_many_as)}{such}{when}"
    if e.only_when and (e.at_least, e.at_most) == (1, None):
        return f"{tools}{such}{when}"
    if e.at_least == e.at_most:
        count = f"exactly {e.at_least}"
    else:
        bounds = ((e.at_least, "at least"), (e.at_most, "at most"))
        count = " and ".join(f"{word} {n}" for n, word in bounds if n is not None)
    return f"{count} {'' if not e.tools else 'of ' if len(e.tools) > 1 else ''}{tools}{such}{when}"


def _precedence(e: Precedence) -> str:
    word = {"informed": "", "first": "first ", "all": "every "}[e.scope]
    per = f" per {', '.join(map(show_path, e.per))}" if e.per else ""
    return f"{word}{e.before} before {'every ' if e.per and e.required else ''}{e.after}{per}"


def _arguments(e: Arguments) -> str:
    text = e.tool if e.call is None else f"call {e.call + 1} of {e.tool}"
    if e.such is not None:
        text += f" where {show_formula(e.such)}"
    if e.distinct:
        text += f" distinct {', '.join(map(show_path, e.distinct))}"
    if e.schema is not None:
        text += " by its schema"
    return text + (f" when {show_formula(e.when)}" if e.when is not None else "")


def _approval(e: Confirmation) -> str:
    if not e.prompts:
        bound = " with same arguments" if e.bound else ""
        return ("confirmation" if e.by == "any" else f"{e.by} approved") + bound
    text = f"prompt {' or '.join(map(str, e.prompts))}"
    text += f" until prompt {e.until}" if e.until is not None else ""
    return text + (f" where {show_formula(e.such)}" if e.such is not None else "")


def _outcome(e: Outcome) -> str:
    parts = [f"status {e.status}"] if e.status is not None else []
    parts += [show_formula(e.such)] if e.such is not None else []
    parts += ["the outcome by its schema"] if e.schema is not None else []
    return " and ".join(parts) + (f" when {show_formula(e.when)}" if e.when is not None else "")


def _budget(e: Budget) -> dict[str, JsonValue]:
    return _drop(turns=e.turns, tokens=e.tokens, duration_ms=e.duration_ms)


def _formula(formula: Formula | None) -> JsonValue:
    return None if formula is None else show_formula(formula)


def _term(term: Term | None) -> JsonValue:
    return None if term is None else show_term(term)


def _drop(**members: JsonValue) -> dict[str, JsonValue]:
    return {name: value for name, value in members.items() if value is not None}
