"""Pydantic's errors in the words of someone who writes a spec."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any, TypeAliasType, get_args

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from flowproof_runner.reading.document import Document
from flowproof_runner.reading.fields import PATTERNS, Part, kind
from flowproof_runner.reading.problems import Complaint, Loc, Problem

_EXPECTED = {
    "string_type": "text",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
}


def problems(error: ValidationError, document: Document, model: type[Part]) -> Iterator[Problem]:
    """The problems a validation of `document` against `model` found."""
    for detail in error.errors(include_url=False):
        loc: Loc = detail["loc"]
        if detail["type"] == "extra_forbidden":
            yield document.problem(loc, Complaint(_unknown(loc, model)), at_key=True)
        elif detail["type"] == "missing":
            yield _missing(document, loc)
        else:
            for complaint in _complaints(detail):
                yield document.problem(loc, complaint)


def suggestion(word: str, accepted: list[str]) -> str:
    """What to say about a word that is none of the accepted ones."""
    near = difflib.get_close_matches(word, accepted, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return f"{hint}accepted: {', '.join(accepted)}"


def _missing(document: Document, loc: Loc) -> Problem:
    return document.problem(loc[:-1], Complaint(f"required key {loc[-1]!r} is missing"))


def _unknown(loc: Loc, model: type[Part]) -> str:
    return f"unknown key; {suggestion(str(loc[-1]), _keys(model, loc[:-1]))}"


def _complaints(detail: ErrorDetails) -> tuple[Complaint, ...]:
    context: dict[str, Any] = detail.get("ctx", {})
    found = kind(detail["input"])
    match detail["type"]:
        case "refused":
            return tuple(context["complaints"])
        case "literal_error":
            said = f"found {found}; accepted: {str(context['expected']).replace('True', 'true')}"
        case "string_too_short" | "too_short":
            said = "is empty"
        case "string_pattern_mismatch":
            pattern = str(context["pattern"])
            said = f"{found} does not fit; accepted: {PATTERNS.get(pattern, pattern)}"
        case "greater_than_equal":
            said = f"{found} is too small; accepted: {context['ge']} or more"
        case "less_than_equal":
            said = f"{found} is too big; accepted: {context['le']} or less"
        case name if name in _EXPECTED:
            said = f"expected {_EXPECTED[name]}, found {found}"
        case _:
            said = f"{detail['msg']}, found {found}"
    return (Complaint(said),)


def _keys(model: type[Part], loc: Loc) -> list[str]:
    """The keys accepted where `loc` leads in the grammar."""
    here = [model]
    for step in loc:
        inner = [
            part
            for each in here
            for name, info in each.model_fields.items()
            if (info.alias or name) == step
            for part in _parts(info.annotation)
        ]
        here = inner or here
    return [info.alias or name for each in here for name, info in each.model_fields.items()]


def _parts(annotation: object) -> list[type[Part]]:
    """The pieces of grammar inside a type."""
    if isinstance(annotation, TypeAliasType):
        return _parts(annotation.__value__)
    if isinstance(annotation, type) and issubclass(annotation, Part):
        return [annotation]
    return [part for inner in get_args(annotation) for part in _parts(inner)]
