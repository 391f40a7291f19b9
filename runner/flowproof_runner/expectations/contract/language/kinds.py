"""The kinds of value that `expect:` holds besides those of a spec."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, PlainValidator, WithJsonSchema
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from flowproof_runner.reading.fields import Words, kind
from flowproof_runner.reading.problems import Complaint, refuse
from flowproof_runner.reading.scalars import Scalar

_QUANTITY = re.compile(r"(\d{1,9})(k|M)?", re.ASCII)
_TIMES = {None: 1, "k": 1000, "M": 1_000_000}
_PERCENT = re.compile(r"(\d{1,3}(?:\.\d{1,3})?)%?", re.ASCII)


class Listed:
    """A list in which a single thing may be written without the list around it."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Put the list around it."""
        return core_schema.no_info_before_validator_function(_listed, handler(source))

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Say so to editors."""
        made = handler(core)
        return {"anyOf": [made["items"], made]}


def quantity(node: object) -> int:
    """Read `12`, `20k`, `2M`.

    Raises a pydantic error if it is no quantity.
    """
    found = _QUANTITY.fullmatch(_text(node))
    if found is None:
        raise refuse(Complaint(f"{kind(node)} is no quantity; accepted: 800, 20k, 2M"))
    return int(found[1]) * _TIMES[found[2]]


def percent(node: object) -> float:
    """Read `95%` or `95`.

    Raises a pydantic error if it is no percentage above 0.
    """
    found = _PERCENT.fullmatch(_text(node))
    if found is None or not 0 < float(found[1]) <= 100:
        raise refuse(Complaint(f"{kind(node)} is no percentage; accepted: 95%, up to 100%"))
    return float(found[1])


Lines = Annotated[tuple[Words, ...], Listed()]
"""Conditions that must all hold."""
Quantity = Annotated[
    int, PlainValidator(quantity), WithJsonSchema({"type": ["integer", "string"], "examples": [800, "20k"]})
]
Percent = Annotated[float, PlainValidator(percent), WithJsonSchema({"type": ["number", "string"], "examples": ["95%"]})]


def _listed(node: object) -> object:
    return node if isinstance(node, list | tuple) else [node]


def _text(node: object) -> str:
    """As it was written; what the canonical form holds is a plain number."""
    return node.text if isinstance(node, Scalar) else f"{node:g}" if isinstance(node, float) else str(node)
