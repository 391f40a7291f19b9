"""The report that programs read."""

from __future__ import annotations

import json

import jsonschema

from flowproof_runner.report.json import failure, read, render, schema
from flowproof_runner.result import RunResult


def test_the_report_reads_back_as_it_was(mixed: RunResult) -> None:
    assert RunResult.model_validate_json(render(mixed)) == mixed


def test_an_error_without_a_report_is_json_too() -> None:
    told = json.loads(failure("no spec", 2))
    assert (told["schema"], told["exit_code"], told["error"]) == (1, 2, "no spec")


def test_the_report_follows_its_schema_and_names_its_version(mixed: RunResult) -> None:
    report = json.loads(render(mixed))
    jsonschema.validate(report, schema())
    assert (report["schema"], report["verdict"], report["exit_code"]) == (1, "error", 2)


def test_half_a_character_survives(mixed: RunResult) -> None:
    flow = mixed.flows[1]
    found = flow.findings[0].model_copy(update={"message": "cut \ud83d", "actual": ["\ud83d", "é", 1.5]})
    run = mixed.model_copy(update={"flows": (flow.model_copy(update={"findings": (found,)}),)})
    assert read(render(run).encode()) == run
    assert '"cut \\ud83d"' in render(run)
    assert '"é"' in render(run)


def test_what_flows_share_is_told_once_beside_them(same_twice: RunResult) -> None:
    (cause,) = json.loads(render(same_twice))["causes"]
    assert (cause["id"], cause["specs"]) == ("model.divergence", ["specs/refund.flow.yaml", "specs/other.flow.yaml"])
