"""Every example in the spec reference is a spec that loads."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from flowproof_runner.spec.file import LoadedSpec

PAGE = Path(__file__).parents[3] / "docs" / "spec-reference.md"
EXAMPLES = [block for block in re.findall(r"^```yaml\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.splitlines()[0])
def test_an_example_loads(spec: Callable[..., LoadedSpec], tmp_path: Path, example: str) -> None:
    (tmp_path / "receipts").mkdir()
    (tmp_path / "receipts/r1.json").write_text("{}")
    steps = f"mcp: [ {{ name: s, url: u }} ]\nsteps:\n- prompt: go\n{example}" if example.startswith("- ") else example
    assert spec(steps)


def test_there_are_examples() -> None:
    assert len(EXAMPLES) > 4
