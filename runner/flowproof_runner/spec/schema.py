"""The JSON Schema of a spec, for editors."""

from __future__ import annotations

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.spec.model import Spec
from flowproof_runner.spec.steps import BARE


def schema() -> dict[str, JsonValue]:
    """JSON Schema (2020-12) of a `*.flow.yaml`, made from the grammar itself."""
    made = Spec.model_json_schema(by_alias=True)
    steps = made["properties"]["steps"]
    steps["items"] = {"anyOf": [{"enum": list(BARE)}, steps["items"]]}
    made["$defs"]["StepEntry"] |= {"minProperties": 1, "maxProperties": 1}
    made["anyOf"] = [{"required": ["steps"]}, {"required": ["conversation"]}]
    made["properties"]["expect"] |= _expect(made["$defs"])
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **_without_null(made), "title": "flowproof spec"}


def _expect(definitions: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """The schema of `expect:`, its definitions put beside the others.

    A spec holds it as it was written, for the grammar of contracts takes longer to build than most specs to run.
    """
    from flowproof_runner.expectations.contract.language.forms import Expect

    made = Expect.model_json_schema(by_alias=True, ref_template="#/$defs/expect.{model}")
    definitions |= {f"expect.{name}": each for name, each in made.pop("$defs").items()}
    return {key: each for key, each in made.items() if key not in ("title", "description")}


def _without_null(schema: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """The grammar writes "may be left out" as null; in a file null is refused."""
    return {key: _of(value) for key, value in schema.items() if not (key == "default" and value is None)}


def _of(value: JsonValue) -> JsonValue:
    if isinstance(value, list):
        return [_of(each) for each in value if each != {"type": "null"}]
    return _without_null(value) if isinstance(value, dict) else value
