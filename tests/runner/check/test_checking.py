"""What `flowproof check` finds before anything runs."""

from __future__ import annotations

from pathlib import Path

from flowproof_runner.check.checking import check

WRONG = """
name: Wrong in two ways
app: agent
agent: { comand: python3 x.py }
tools:
  - name: lookup
    result: { total: 4 }
steps:
  - prompt: hi
  - assert: reply contains x
expect:
  calls:
    - lookup at least twise
  args:
    - pay where amount equals lookup.total
"""


def test_a_wrong_spec_is_told_with_its_wrong_contract(tmp_path: Path) -> None:
    """All at once: nobody mends a key only to be told of the next thing that was there all along."""
    spec = tmp_path / "wrong.flow.yaml"
    spec.write_text(WRONG)
    key, contract = check([spec]).problems
    assert key.startswith(f"{spec}:4:")
    assert "did you mean 'command'?" in key
    assert contract.startswith(f"{spec}:13:")
    assert "twise" in contract


def test_a_right_contract_adds_nothing_to_a_wrong_spec(tmp_path: Path) -> None:
    spec = tmp_path / "wrong.flow.yaml"
    spec.write_text(WRONG.replace("twise", "twice"))
    assert len(check([spec]).problems) == 1
    spec.write_text("name: [\n")
    assert len(check([spec]).problems) == 1
