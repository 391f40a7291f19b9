"""Terms and formulas as the text that reads back as them."""

from __future__ import annotations

import json
import re
from typing import assert_never

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.expectations.contract.terms import (
    Aggregate,
    AllOf,
    AnyOf,
    Arguments,
    Choose,
    Compare,
    Filter,
    Formula,
    Literal,
    Not,
    Ref,
    Results,
    Step,
    Successor,
    Term,
    Union,
    Wildcard,
)

_BARE = re.compile(r"[A-Za-z_][\w\-]*", re.ASCII)
_TOOL = re.compile(r"[\w.\-/:]+", re.ASCII)
_SPOKEN = frozenset(
    "at exactly once twice of call calls first every then before never requested as where when required distinct by per"
    " needs confirmation prompt answers".split()
)
"""Words of the lines themselves."""


def show_formula(formula: Formula) -> str:
    """A condition as text."""
    match formula:
        case Compare():
            return _comparison(formula)
        case AllOf(parts=parts):
            return " and ".join(_inner(part) for part in parts)
        case AnyOf(parts=parts):
            return " or ".join(_inner(part) for part in parts)
        case Not(part=part):
            return f"not ({show_formula(part)})"
        case _:
            assert_never(formula)


def show_term(term: Term) -> str:
    """A term as text."""
    match term:
        case Literal():
            return _literal(term)
        case Ref():
            return _ref(term)
        case Results(tool=tool, merged=merged):
            text = f"result({_tool(tool)}){_selector(term)}{_steps(term.path)}"
            return f"all({text})" if merged else text
        case Arguments(tool=tool):
            return f"args({_tool(tool)}){_selector(term)}{_steps(term.path)}"
        case Aggregate(function=function, of=of):
            return f"{function}({show_term(of)})"
        case Choose(choice=choice, of=of):
            return f"{choice}({show_term(of)})"
        case Successor(of=of, domain=domain, offset=offset):
            return f"after({show_term(of)}, json({_json(list(domain))}), {offset})"
        case Union(terms=terms):
            return f"any({', '.join(map(show_term, terms))})"
        case _:
            assert_never(term)


def show_path(path: tuple[Step, ...]) -> str:
    """A path as text, without a leading dot."""
    return _steps(path).removeprefix(".")


def show_tool(name: str) -> str:
    """A tool's name where a line expects one: quoted if it could be read as something else."""
    return _json(name) if name in _SPOKEN else _tool(name)


def _comparison(compare: Compare) -> str:
    if compare.operator == "is empty" and compare.negated:
        return f"{show_term(compare.left)} is not empty"
    sign = "not " if compare.negated else ""
    text = f"{show_term(compare.left)} {sign}{compare.operator}"
    return text if compare.right is None else f"{text} {show_term(compare.right)}"


def _inner(part: Formula) -> str:
    return f"({show_formula(part)})" if isinstance(part, AllOf | AnyOf) else show_formula(part)


def _literal(term: Literal) -> str:
    if term.loose and isinstance(term.value, list):
        return f"[{', '.join(map(_json, term.value))}]"
    if term.loose or isinstance(term.value, str):
        return _json(term.value)
    return f"json({_json(term.value)})"


def _ref(term: Ref) -> str:
    if term.scope == "call":
        return "$" + show_path(term.path)
    if term.scope == "each":
        return term.name + (_steps(term.path) or ".it")
    return term.scope + _steps(term.path)


def _selector(term: Results | Arguments) -> str:
    if isinstance(term, Results) and term.index is not None:
        return f"[{term.index}]"
    return "" if term.where is None else f"[{show_formula(term.where)}]"


def _steps(path: tuple[Step, ...]) -> str:
    lead = ".it" if path and isinstance(path[0], Filter | int) else ""
    return lead + "".join(map(_step, path))


def _step(step: Step) -> str:
    match step:
        case int():
            return f"[{step}]"
        case str():
            return f".{step}" if _BARE.fullmatch(step) and step != "it" else f".{_json(step)}"
        case Wildcard():
            return "[]"
        case Filter(condition=condition):
            return f"[{show_formula(condition)}]"
        case _:
            assert_never(step)


def _tool(name: str) -> str:
    return name if _TOOL.fullmatch(name) else _json(name)


def _json(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False)
