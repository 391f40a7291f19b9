"""Several runs of one contract compared: shape and types of the outcome, and the sequence of tools."""

from __future__ import annotations

from collections.abc import Sequence

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.evidence.model import Evidence
from flowproof_runner.expectations.contract.values import type_name
from flowproof_runner.expectations.contract.view import View
from flowproof_runner.findings import Finding

type Shape = dict[str, frozenset[str]]
"""Path -> types seen there; array indices are `[]`."""


def shape(value: JsonValue, path: str = "") -> Shape:
    """The paths of a value with their types. What an empty array could hold is unknown, so it adds no paths."""
    found: Shape = {path: frozenset({type_name(value)})}
    inner: list[tuple[str, JsonValue]] = []
    if isinstance(value, dict):
        inner = [(f"{path}.{name}".removeprefix("."), each) for name, each in value.items()]
    elif isinstance(value, list):
        inner = [(f"{path}[]", each) for each in value]
    for where, each in inner:
        for at, types in shape(each, where).items():
            found[at] = found.get(at, frozenset()) | types
    return found


def instability(runs: Sequence[Evidence]) -> tuple[Finding, ...]:
    """What differs between runs that were asked the same. Fewer than two comparable runs is a finding too."""
    findings: list[Finding] = []
    reported = [view.outcome.output for run in runs if (view := View(run)).outcome is not None]
    if len(reported) >= 2:
        findings += _shapes([shape(output) for output in reported], reported)
    elif any(run.complete for run in runs) and len(reported) == 1:
        findings.append(_finding("repeat.not_measured", f"only 1 of {len(runs)} runs reported an outcome"))
    sequences = {tuple(call.tool for call in View(run).requested) for run in runs if run.complete}
    if len(sequences) > 1:
        shown = "\n".join(" → ".join(sequence) or "(no calls)" for sequence in sorted(sequences))
        findings.append(_finding("repeat.tool_sequence", f"{len(sequences)} different sequences of tools", shown))
    return tuple(findings)


def _shapes(shapes: Sequence[Shape], outputs: Sequence[JsonValue]) -> list[Finding]:
    findings = []
    every = sorted({path for each in shapes for path in each})
    for path in every:
        having = [each[path] for each in shapes if path in each]
        if len(having) < len(shapes):
            able = [s for s, output in zip(shapes, outputs, strict=True) if path in s or not _unknown(path, output)]
            if len(able) > len(having):
                message = f"{path} is there in {len(having)} of {len(able)} runs"
                findings.append(_finding("repeat.shape", message, path=path))
        types = {known for each in having if (known := each - {"null"})}
        if len(types) > 1:
            names = ", ".join(sorted("|".join(sorted(each)) for each in types))
            findings.append(_finding("repeat.type", f"{path or 'the outcome'} has different types: {names}", path=path))
    return findings


def _unknown(path: str, output: JsonValue) -> bool:
    """True when the path leads through an array that is empty in this run: it might have been there."""
    head, bracket, _ = path.partition("[]")
    if not bracket:
        return False
    values = [output]
    for part in path.split("[]")[:-1]:
        values = [_member(value, part.strip(".")) for value in values]
        arrays = [value for value in values if isinstance(value, list)]
        values = [element for array in arrays for element in array]
        if arrays and not values:
            return True
    del head
    return False


def _member(value: JsonValue, path: str) -> JsonValue:
    for name in path.split(".") if path else ():
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _finding(id: str, message: str, detail: str = "", path: str = "") -> Finding:
    return Finding(id=id, message=message, detail=detail, path=path)
