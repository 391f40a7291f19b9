"""JSON Schema 2020-12 with formats, compiled once.

The library is imported on first use, for it takes longer than a whole contract run.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from flowproof_addons.trace.model import JsonValue

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator, FormatChecker
    from jsonschema.exceptions import ValidationError


def schema_problem(schema: JsonValue) -> str | None:
    """What is wrong with a schema itself, None if nothing is."""
    if not isinstance(schema, dict | bool):
        return "a schema is an object"
    validator, _ = _library()
    from jsonschema.exceptions import SchemaError

    try:
        validator.check_schema(schema)
    except SchemaError as error:
        return f"{'.'.join(map(str, error.absolute_path)) or 'schema'}: {error.message}"
    return _dangling(schema)


def valid(schema: JsonValue, value: JsonValue) -> bool:
    """True when the value keeps the schema."""
    return Schemas().violation(schema, value) is None


@dataclass(slots=True)
class Schemas:
    """Compiled schemas of one contract, by identity."""

    _compiled: dict[int, Draft202012Validator] = field(default_factory=dict)

    def violation(self, schema: JsonValue, value: JsonValue) -> tuple[str, str] | None:
        """The most telling violation as (path, words), None if the value is valid."""
        validator = self._compiled.get(id(schema))
        if validator is None:
            assert isinstance(schema, dict | bool)
            library, formats = _library()
            validator = self._compiled[id(schema)] = library(schema, format_checker=formats)
        if validator.is_valid(value):
            return None
        error = min(validator.iter_errors(value), key=_depth)
        return ".".join(map(str, error.absolute_path)), error.message


def _dangling(schema: dict[str, JsonValue] | bool) -> str | None:
    """The first reference that leads nowhere, in words: the library would fetch it while judging."""
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]  # ships no types
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012

    root = DRAFT202012.create_resource(schema)
    pending = [(REGISTRY.resolver_with_root(root), root)]
    while pending:
        resolver, resource = pending.pop()
        contents = resource.contents
        for name in ("$ref", "$dynamicRef"):
            target = contents.get(name, "") if isinstance(contents, dict) else ""
            try:
                resolver.lookup(target)
            except Unresolvable:
                return f"{name} {target!r} leads nowhere in it, and nothing is fetched"
        pending += [(resolver.in_subresource(inner), inner) for inner in resource.subresources()]
    return None


def _depth(error: ValidationError) -> int:
    return len(error.absolute_path)


@cache
def _library() -> tuple[type[Draft202012Validator], FormatChecker]:
    """The validator and its formats.

    jsonschema 4.26 imports rfc3987_syntax, which builds a grammar for most of a second, for the sake of two formats;
    that is put off until a value is really checked by one of them.
    """
    name = "rfc3987_syntax"
    hidden = name not in sys.modules
    if hidden:
        sys.modules[name] = None  # type: ignore[assignment]  # how Python spells: not importable
    try:
        from jsonschema import Draft202012Validator
    finally:
        if hidden:
            del sys.modules[name]
    formats = Draft202012Validator.FORMAT_CHECKER
    if "iri" not in formats.checkers:
        formats.checks("iri")(lambda value: _is_iri("iri", value))
        formats.checks("iri-reference")(lambda value: _is_iri("iri_reference", value))
    return Draft202012Validator, formats


def _is_iri(kind: str, value: object) -> bool:
    if not isinstance(value, str):
        return True
    import rfc3987_syntax  # type: ignore[import-untyped]  # ships no types

    return bool(rfc3987_syntax.is_valid_syntax(kind, value))
