"""The examples of docs/contracts.md work as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from flowproof_runner.contract.file import load
from flowproof_runner.contract.init import init
from flowproof_runner.expectations.contract.language.grammar import Expect, compile_expect
from flowproof_runner.expectations.contract.lint import lint

PAGE = (Path(__file__).parents[3] / "docs" / "contracts.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_the_contract_at_the_top_is_sound() -> None:
    contract, complaints = compile_expect(
        Expect.model_validate(yaml.safe_load(blocks("yaml")[0])["expect"]), ("list_pending",)
    )
    assert complaints == ()
    assert lint(contract) == ()
    assert len(contract.expectations) == 14


def test_the_servers_of_a_contract_file_are_read(tmp_path: Path) -> None:
    head = 'schemaVersion: "0.2"\nid: t\ninput: { message: go }\nexpect: { calls: [web.order at least once] }\n'
    (tmp_path / "shop.json").write_text("[]")
    (tmp_path / "contract.yml").write_text(head + blocks("yaml")[1])
    file = load(tmp_path / "contract.yml")
    assert [server.name for server in file.servers] == ["shop", "web"]
    assert file.fixtures.keys() == {"mail"}


@pytest.mark.parametrize("number", range(len(blocks("python"))))
def test_the_python_examples_run(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    init(Path("contract.yml"))
    flow = {
        "name": "A flow around the starter",
        "app": "agent",
        "agent": {"adapter": ["python3", "contract_adapter.py"]},
        "tools": [{"name": "get_order", "result": {"id": "A-1", "amount": 40}}, {"name": "refund", "result": {}}],
        "steps": [{"prompt": "Refund order A-1."}, {"assert_tool_call": "refund where amount equals 40"}],
    }
    Path("shop.flow.yaml").write_text(yaml.safe_dump(flow))
    exec(compile(blocks("python")[number], f"docs/contracts.md, example {number + 1}", "exec"), {})


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
