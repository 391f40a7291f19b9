"""An expectation as the YAML that reads back as it, and as a prose line does."""

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
                kind=None if expectation.kind == _told(expectation) else expectation.kind,
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
            return _drop(turns=expectation.turns, tokens=expectation.tokens, duration_ms=expectation.duration_ms)
        case Lane():
            return _drop(
                server=expectation.server,
                call_ms=expectation.call_ms,
                share=expectation.share,
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


def _told(e: Calls) -> str:
    """The kind that is told from the numbers."""
    return "required" if e.tools and (e.at_least, e.at_most, e.as_many_as) == (1, None, None) else "count"


def _formula(formula: Formula | None) -> JsonValue:
    return None if formula is None else show_formula(formula)


def _term(term: Term | None) -> JsonValue:
    return None if term is None else show_term(term)


def _drop(**members: JsonValue) -> dict[str, JsonValue]:
    return {name: value for name, value in members.items() if value is not None}
