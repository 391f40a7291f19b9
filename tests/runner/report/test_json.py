"""The report that programs read."""

from __future__ import annotations

import json

import jsonschema

from flowproof_runner.report.json import failure, render, schema
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
