"""The structured forms of `expect:` compiled to the same expectations as lines of prose; see `grammar`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.expectations.contract.language import limits, tree
from flowproof_runner.expectations.contract.language.forms import (
    ArgumentsForm,
    BudgetForm,
    CallsForm,
    ConfirmationForm,
    HoldsForm,
    LaneForm,
    OutcomeForm,
    PrecedenceForm,
    SequenceForm,
)
from flowproof_runner.expectations.contract.language.names import Names
from flowproof_runner.expectations.contract.language.scanner import Scanner, SyntaxProblem
from flowproof_runner.expectations.contract.language.syntax import Parser, parse_formula, parse_term, parse_value
from flowproof_runner.expectations.contract.model import (
    AnyExpectation,
    Arguments,
    Calls,
    Confirmation,
    Holds,
    Lane,
    Order,
    Outcome,
    Precedence,
)
from flowproof_runner.expectations.contract.schema import schema_problem
from flowproof_runner.expectations.contract.terms import Compare, Formula, Ref, Scope, conjunction


def compiled(form: object, names: Names) -> tuple[AnyExpectation, ...]:
    """What a structured form expects. Raises SyntaxProblem if it contradicts itself or demands nothing."""
    match form:
        case CallsForm():
            return (_calls(form, names),)
        case SequenceForm(order=tools):
            return (Order(tools=tools),)
        case PrecedenceForm():
            return (_precedence(form),)
        case ArgumentsForm():
            return (_arguments(form, names),)
        case ConfirmationForm():
            return (_confirmation(form, names),)
        case OutcomeForm():
            return _outcome(form, names)
        case BudgetForm():
            duration = form.duration_ms if form.duration is None else form.duration * 1000
            return limits.bounded(form.calls, form.turns, form.tokens, duration)
        case LaneForm():
            return (_lane(form),)
        case HoldsForm():
            such = conjunction([parse_formula(text, names) for text in form.holds])
            return (Holds(such=such, when=_condition(form.when, names, None)),)
        case _:
            raise AssertionError(f"no such form: {form!r}")


def _calls(form: CallsForm, names: Names) -> Calls:
    _coherent(form)
    bounds = (form.at_least, form.at_most) if form.exactly is None else (form.exactly, form.exactly)
    if form.kind == "forbidden":
        bounds = (None, 0)
    elif bounds == (None, None) and form.as_many_as is None:
        bounds = (1, None)
    floor_only = bounds == (1, None) and bool(form.calls)
    return Calls(
        tools=form.calls,
        such=_all(form.where, names, "call"),
        at_least=bounds[0],
        at_most=bounds[1],
        as_many_as=parse_term(form.as_many_as, names) if form.as_many_as else None,
        when=_condition(form.when, names, None),
        only_when=form.only_when,
        at=form.at,
        kind=form.kind or ("required" if floor_only else "count"),
    )


def _coherent(form: CallsForm) -> None:
    """What a line of prose cannot say either."""
    bounds = (form.exactly, form.at_least, form.at_most)
    said = any(bound is not None for bound in bounds)
    if form.exactly is not None and (form.at_least, form.at_most) != (None, None):
        raise SyntaxProblem("exactly stands alone, without at_least and at_most", 0)
    if bounds == (None, 0, None):
        raise SyntaxProblem("at_least: 0 demands nothing", 0)
    if form.as_many_as is not None and (said or form.kind in ("required", "forbidden")):
        raise SyntaxProblem("as_many_as stands alone, without other numbers and kinds", 0)
    if form.only_when and form.when is None:
        raise SyntaxProblem("only_when needs the condition: when", 0)
    if form.only_when and (bounds not in ((None, None, None), (None, 1, None)) or form.kind == "forbidden"):
        raise SyntaxProblem("only_when is about calling at all; leave the numbers out", 0)
    if form.kind == "forbidden" and bounds not in ((None, None, None), (None, None, 0), (0, None, None)):
        raise SyntaxProblem("kind: forbidden means never; leave the numbers out", 0)
    if form.kind == "required" and bounds not in ((None, None, None), (None, 1, None)):
        raise SyntaxProblem("kind: required means once or more; leave it out where you state numbers", 0)


def _precedence(form: PrecedenceForm) -> Precedence:
    if not form.required and not form.per:
        raise SyntaxProblem("required: false belongs to per", 0)
    per = tuple(map(_plain, form.per))
    return Precedence(before=form.before, after=form.after, scope=form.scope, per=per, required=form.required)


def _arguments(form: ArgumentsForm, names: Names) -> Arguments:
    _schema(form.schema_)
    return Arguments(
        tool=form.tool,
        call=None if form.call is None else form.call - 1,
        such=_such(form.where, form.match, names, "call"),
        schema=form.schema_,
        distinct=tuple(map(_plain, form.distinct)),
        when=_condition(form.when, names, "call"),
    )


def _confirmation(form: ConfirmationForm, names: Names) -> Confirmation:
    if form.prompt and (form.by != "any" or form.same_arguments or form.approves):
        raise SyntaxProblem("prompt stands without by, same_arguments and approves; say what it approves: where", 0)
    if not form.prompt and (form.until is not None or form.where):
        raise SyntaxProblem("until and where belong to prompt", 0)
    if form.approves and form.by in ("any", "adapter", "elicitation"):
        raise SyntaxProblem("approves is about the answer of a tool that asks: by", 0)
    return Confirmation(
        tool=form.tool,
        by="prompt" if form.prompt else form.by,
        bound=form.same_arguments,
        approves=_condition(form.approves, names, "result"),
        prompts=form.prompt,
        until=form.until,
        such=_all(form.where, names, "call"),
    )


def _outcome(form: OutcomeForm, names: Names) -> tuple[Outcome, ...]:
    """One expectation for each thing said, so that a finding names the one that failed."""
    _schema(form.schema_)
    when = _condition(form.when, names, None)
    status = (Outcome(status=form.status, when=when),) if form.status is not None else ()
    lines = tuple(Outcome(such=parse_formula(text, names), when=when) for text in form.where)
    match = _such((), form.match, names, "out")
    tree_ = (Outcome(such=match, when=when),) if match is not None else ()
    schema = (Outcome(schema=form.schema_, when=when),) if form.schema_ is not None else ()
    said = (*status, *lines, *tree_, *schema)
    if not said:
        raise SyntaxProblem("demands nothing; accepted: status, where, match, schema", 0)
    return said


def _lane(form: LaneForm) -> Lane:
    call_ms = form.call_ms if form.call is None else form.call * 1000
    if form.share is not None and call_ms is None:
        raise SyntaxProblem("share needs the time it is about: call", 0)
    if form.model_fields_set <= {"server"}:
        raise SyntaxProblem("demands nothing; accepted: call, share, result, errors, tools, capabilities", 0)
    return Lane(
        server=form.server,
        call_ms=call_ms,
        share=form.share,
        result_bytes=form.result_bytes if form.result is None else form.result,
        errors=form.errors,
        tools=form.tools,
        capabilities=form.capabilities,
    )


def _such(lines: tuple[str, ...], match: Mapping[str, JsonValue] | None, names: Names, scope: Scope) -> Formula | None:
    parts = [parse_formula(text, names, "call" if scope == "call" else None) for text in lines]
    if match is not None:
        if not match:
            raise SyntaxProblem("match is empty, which anything fits", 0)
        parts.append(tree.formula(dict(match), Ref(scope), lambda node, at: _reference(node, at, names)))
    return conjunction(parts) if parts else None


def _all(lines: tuple[str, ...], names: Names, bare: Scope) -> Formula | None:
    parts = [parse_formula(text, names, bare) for text in lines]
    return conjunction(parts) if parts else None


def _condition(text: str | None, names: Names, bare: Scope | None) -> Formula | None:
    return None if text is None else parse_formula(text, names, bare)


def _schema(schema: JsonValue) -> None:
    problem = None if schema is None else schema_problem(schema)
    if problem is not None:
        raise SyntaxProblem(f"not a JSON Schema: {problem}", 0)


def _plain(text: str) -> tuple[str, ...]:
    parser = Parser(Scanner(text), Names())
    steps = parser.plain_path()
    parser.end()
    if steps is None:
        raise SyntaxProblem("expected a plain argument path: expenseId, item.id", 0)
    return tuple(map(str, steps))


def _reference(node: Mapping[str, JsonValue], at: Ref, names: Names) -> Formula | None:
    """`{from: TOOL, path: PATH}` and `{term: EXPRESSION}` inside a `match:` tree."""
    if node.keys() == {"term"} and isinstance(node["term"], str):
        return Compare(at, "equals", parse_value(node["term"], names, at.scope))
    if node.keys() == {"from", "path"} and isinstance(node["from"], str) and isinstance(node["path"], str):
        tool = Scanner(node["from"]).text
        inner = names if tool in names.tools else replace(names, tools=names.tools | {tool})
        return Compare(at, "equals", parse_term(f'result("{tool}").{node["path"]}', inner, at.scope))
    return None
