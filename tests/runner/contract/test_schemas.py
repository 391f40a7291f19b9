"""JSON Schema 2020-12 as contracts use it: every format is checked, no reference leads out of the schema."""

from __future__ import annotations

import pytest

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.expectations.contract.schema import schema_problem, valid


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("date", "2026-12-02", "2026-13-02"),
        ("time", "10:00:00Z", "25:00:00Z"),
        ("date-time", "2026-12-02T10:00:00Z", "2026-12-02 at ten"),
        ("duration", "P1DT2H", "2 hours"),
        ("email", "a@b.example", "nobody"),
        ("idn-email", "ä@b.example", "nobody"),
        ("hostname", "a.example", "-a-.example"),
        ("idn-hostname", "ä.example", "a..example"),
        ("ipv4", "127.0.0.1", "127.0.0.256"),
        ("ipv6", "::1", "::g"),
        ("uri", "https://a.example/x", "no uri"),
        ("uri-reference", "/x?y", "\\\\x"),
        ("iri", "https://ä.example/x", "no iri"),
        ("iri-reference", "/ä", "\\\\x"),
        ("uri-template", "/x/{id}", "/x/{id"),
        ("uuid", "00000000-0000-4000-8000-000000000000", "0000"),
        ("json-pointer", "/a/b", "a/b"),
        ("relative-json-pointer", "1/a", "/a"),
        ("regex", "^a+$", "("),
    ],
)
def test_a_format_is_checked(name: str, good: str, bad: str) -> None:
    schema: JsonValue = {"type": "string", "format": name}
    assert valid(schema, good)
    assert not valid(schema, bad)


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        ({"prefixItems": [{"type": "integer"}], "items": False}, [1, 2], False),
        ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, False),
        ({"properties": {"a": True}, "unevaluatedProperties": False}, {"b": 1}, False),
        ({"$defs": {"n": {"type": "integer"}}, "$ref": "#/$defs/n"}, 1, True),
        ({"$defs": {"n": {"$anchor": "n", "type": "integer"}}, "$ref": "#n"}, "x", False),
        ({"contains": {"const": 1}, "minContains": 2}, [1, 1], True),
    ],
)
def test_it_is_the_draft_of_2020(schema: JsonValue, value: JsonValue, expected: bool) -> None:
    assert schema_problem(schema) is None
    assert valid(schema, value) == expected


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/$defs/missing"},
        {"properties": {"a": {"items": {"$ref": "#nowhere"}}}},
        {"$ref": "https://schemas.example/order.json"},
    ],
)
def test_a_reference_that_leads_nowhere_is_refused_at_load(schema: JsonValue) -> None:
    assert "leads nowhere" in str(schema_problem(schema))


def test_a_property_called_ref_is_a_property() -> None:
    assert schema_problem({"properties": {"$ref": {"type": "string"}}, "const": {"$ref": "#x"}}) is None
