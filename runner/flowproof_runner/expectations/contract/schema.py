"""JSON Schema 2020-12 with formats, compiled once."""

from __future__ import annotations

from dataclasses import dataclass, field

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError

from flowproof_addons.trace.model import JsonValue


def schema_problem(schema: JsonValue) -> str | None:
    """What is wrong with a schema itself, None if nothing is."""
    if not isinstance(schema, dict | bool):
        return "a schema is an object"
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return f"{'.'.join(map(str, error.absolute_path)) or 'schema'}: {error.message}"
    return None


@dataclass(slots=True)
class Schemas:
    """Compiled schemas of one contract, by identity."""

    _compiled: dict[int, Draft202012Validator] = field(default_factory=dict)

    def violation(self, schema: JsonValue, value: JsonValue) -> tuple[str, str] | None:
        """The most telling violation as (path, words), None if the value is valid."""
        validator = self._compiled.get(id(schema))
        if validator is None:
            assert isinstance(schema, dict | bool)
            validator = Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)
            self._compiled[id(schema)] = validator
        if validator.is_valid(value):
            return None
        error = min(validator.iter_errors(value), key=_depth)
        return ".".join(map(str, error.absolute_path)), error.message


def _depth(error: ValidationError) -> int:
    return len(error.absolute_path)
