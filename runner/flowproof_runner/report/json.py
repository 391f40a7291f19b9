"""The report that programs read: `--json` and `report.json`."""

from __future__ import annotations

import json

from flowproof_runner.result import SCHEMA, RunResult
from flowproof_runner.version import version


def render(run: RunResult) -> str:
    """The result as JSON; its `schema` says which version of `schema()` it follows."""
    return run.model_dump_json(indent=2, by_alias=True) + "\n"


def failure(message: str, code: int) -> str:
    """What stands in for a report where no flow could be tried: it has an `error` and no `flows`."""
    return json.dumps({"schema": SCHEMA, "flowproof": version(), "exit_code": code, "error": message}, indent=2) + "\n"


def schema() -> dict[str, object]:
    """The JSON Schema of the report."""
    return RunResult.model_json_schema(by_alias=True)
