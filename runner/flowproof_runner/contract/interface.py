"""The output shape a contract requires, to be pasted into the agent's prompt."""

from __future__ import annotations

import json
from collections.abc import Iterator

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.contract.file import ContractFile
from flowproof_runner.expectations.contract.language.printing import show_path
from flowproof_runner.expectations.contract.lint.facts import flat
from flowproof_runner.expectations.contract.model import Outcome
from flowproof_runner.expectations.contract.terms import Ref
from flowproof_runner.expectations.contract.walk import nodes_of


def interface(file: ContractFile) -> str:
    """Markdown: the JSON Schema of the outcome, and every path the contract reads that the schema does not require."""
    return "\n".join(_lines(file)) + "\n"


def read_paths(file: ContractFile) -> tuple[str, ...]:
    """Every path of the outcome that an expectation reads, conditions included."""
    found = {
        show_path(node.path)
        for expectation in flat(file.contract)
        for node in nodes_of(expectation)
        if isinstance(node, Ref) and node.scope == "out" and node.path
    }
    return tuple(sorted(found))


def _lines(file: ContractFile) -> Iterator[str]:
    yield f"# What {file.id} must report"
    statuses = sorted({e.status for e in file.contract.expectations if isinstance(e, Outcome) and e.status})
    if statuses:
        yield ""
        yield f"End with status {' or '.join(f'`{status}`' for status in statuses)}."
    if file.outcome_schema is not None:
        yield ""
        yield "The output is one JSON object of this schema:"
        yield ""
        yield "```json"
        yield json.dumps(file.outcome_schema, indent=2, ensure_ascii=False)
        yield "```"
    missing = [path for path in read_paths(file) if not _required(file.outcome_schema, path)]
    if missing:
        yield ""
        yield "These paths are read as well and must be there under exactly these names:"
        yield ""
        yield from (f"- `{path}`" for path in missing)


def _required(schema: JsonValue, path: str) -> bool:
    head = path.split(".", 1)[0].split("[", 1)[0]
    required = schema.get("required") if isinstance(schema, dict) else None
    return isinstance(required, list) and head in required and head == path
