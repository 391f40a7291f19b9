"""The examples of docs/contracts.md work as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from flowproof_runner.contract.init import init
from flowproof_runner.expectations.contract.language.grammar import Expect, compile_expect
from flowproof_runner.expectations.contract.lint import lint

PAGE = (Path(__file__).parents[3] / "docs" / "contracts.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_the_contract_at_the_top_is_sound() -> None:
    [example] = blocks("yaml")
    contract, complaints = compile_expect(Expect.model_validate(yaml.safe_load(example)["expect"]), ("list_pending",))
    assert complaints == ()
    assert lint(contract) == ()
    assert len(contract.expectations) == 14


def test_the_python_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [example] = blocks("python")
    monkeypatch.chdir(tmp_path)
    init(Path("contract.yml"))
    exec(compile(example, "docs/contracts.md", "exec"), {})


def test_every_finding_a_check_can_make_is_listed() -> None:
    runner = Path(__file__).parents[3] / "runner" / "flowproof_runner"
    sources = [*(runner / "expectations" / "contract").rglob("*.py"), *(runner / "contract").rglob("*.py")]
    prefix = r"(?:tool|outcome|run|each|safety|dispatch|mcp|fixture|contract|repeat|performance|runtime)"
    made = {
        found
        for path in sources
        if "lint" not in path.parts
        for found in re.findall(rf'"({prefix}\.[a-z_]+)"', path.read_text())
    }
    assert made - set(re.findall(r"`([a-z]+\.[a-z_]+)`", PAGE)) == set()
