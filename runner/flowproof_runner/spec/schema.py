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
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "flowproof spec", **made}
