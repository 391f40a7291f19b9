"""The report that programs read: `--json` and `report.json`."""

from __future__ import annotations

import json
import re

from flowproof_runner.program.version import version
from flowproof_runner.result import SCHEMA, RunResult

_LONE = re.compile("[\ud800-\udfff]")


def render(run: RunResult) -> str:
    """The result as JSON; its `schema` says which version of `schema()` it follows."""
    text = json.dumps(run.model_dump(by_alias=True), indent=2, ensure_ascii=False)
    # Half of a character, cut by an agent that slices UTF-16: JSON can say it, UTF-8 cannot.
    return _LONE.sub(lambda half: f"\\u{ord(half[0]):04x}", text) + "\n"


def read(data: bytes) -> RunResult:
    """The result that `render` wrote. Raises ValueError if it is none."""
    return RunResult.model_validate(json.loads(data))


def failure(message: str, code: int) -> str:
    """What stands in for a report where no flow could be tried: it has an `error` and no `flows`."""
    return json.dumps({"schema": SCHEMA, "flowproof": version(), "exit_code": code, "error": message}, indent=2) + "\n"


def schema() -> dict[str, object]:
    """The JSON Schema of the report."""
    return RunResult.model_json_schema(by_alias=True)
