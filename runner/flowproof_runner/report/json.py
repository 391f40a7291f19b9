"""The report that programs read: `--json` and `report.json`."""

from __future__ import annotations

from flowproof_runner.result import RunResult


def render(run: RunResult) -> str:
    """The result as JSON; its `schema` says which version of `schema()` it follows."""
    return run.model_dump_json(indent=2, by_alias=True) + "\n"


def schema() -> dict[str, object]:
    """The JSON Schema of the report."""
    return RunResult.model_json_schema(by_alias=True)
