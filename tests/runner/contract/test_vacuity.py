"""What looks as if it had held and was never put to the test; and other ways in which a check can mean nothing."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from flowproof_runner.contract.file import load
from flowproof_runner.evidence.model import Evidence
from flowproof_runner.expectations.contract.evaluate import judge
from flowproof_runner.expectations.contract.model import Contract
from flowproof_runner.reading.problems import SpecError

type Play = Callable[[list[tuple[object, ...]]], Evidence]
type Build = Callable[..., Contract]

LOOK: tuple[object, ...] = ("call", "look", {"id": 1}, {"items": []})
PAY: tuple[object, ...] = ("call", "pay", {"id": 1}, {})


@pytest.mark.parametrize(
    ("sections", "idle", "busy"),
    [
        ({"args": ["pay where id exists"]}, [LOOK], [PAY]),
        ({"args": ["pay distinct id"]}, [LOOK], [PAY]),
        ({"args": [{"tool": "pay", "schema": {"type": "object"}}]}, [LOOK], [PAY]),
        ({"args": ["pay where id is 1 when id exists"]}, [("call", "pay", {}, {})], [PAY]),
        ({"order": ["look before pay"]}, [LOOK], [LOOK, PAY]),
        ({"order": ["look before pay per id"]}, [PAY], [LOOK, PAY]),
        ({"order": ["look before pay per id"]}, [LOOK], [LOOK, PAY]),
        ({"confirm": ["pay needs look approved answering items exists"]}, [LOOK], [LOOK, PAY]),
        ({"calls": ["pay at most once when look.items exists"]}, [PAY], [LOOK, PAY]),
        (
            {"each": [{"for": "look.items as i", "expect": ["pay where id equals i"]}]},
            [LOOK],
            [("call", "look", {}, {"items": [1]}), PAY],
        ),
        (
            {"holds": ["out.n equals 1 when out.done equals true"]},
            [("final", {"done": False})],
            [("final", {"done": True, "n": 1})],
        ),
        ({"mcp": "web never fails"}, [LOOK], [("serve", "web", "get", 1.0)]),
    ],
)
def test_an_expectation_without_anything_to_judge_is_told_from_one_that_held(
    sections: dict[str, object],
    idle: list[tuple[object, ...]],
    busy: list[tuple[object, ...]],
    contract: Build,
    play: Play,
) -> None:
    built = contract(("look",), **sections)
    assert [each.times for each in judge(built, play(idle)).exercised] == [0]
    assert [each.times > 0 for each in judge(built, play(busy)).exercised] == [True]
    strict = contract(("look",), strict=True, **sections)
    assert [found.id for found in judge(strict, play(idle)).findings] == ["contract.not_exercised"]
    assert "contract.not_exercised" not in [found.id for found in judge(strict, play(busy)).findings]


def write(folder: Path, version: str, expect: str) -> Path:
    path = folder / "contract.yml"
    path.write_text(f'schemaVersion: "{version}"\nid: x\ninput: {{ message: go }}\nexpect: {expect}\n')
    return path


@pytest.mark.parametrize("expect", ["{}", "{ strict: true }", "{ calls: [] }"])
def test_a_contract_that_expects_nothing_is_refused(expect: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="expects nothing"):
        load(write(tmp_path, "0.2", expect))


def test_one_of_the_old_format_may_expect_nothing(tmp_path: Path) -> None:
    assert load(write(tmp_path, "0.1", "{}")).contract == Contract()


def test_long_runs_are_judged_in_no_time(contract: Build, play: Play) -> None:
    """2,700 events by a schema and references to all earlier answers; time of other processes does not count."""
    built = contract(
        ("look",),
        args=[
            {
                "tool": "pay",
                "schema": {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}},
            },
            "pay where id equals look[id = $id].id",
            "pay where id in look.id",
            "pay distinct id",
        ],
    )
    steps = [
        (name, tool, {"id": n}, {"id": n}) for n in range(450) for name, tool in (("call", "look"), ("call", "pay"))
    ]
    evidence = play(list(steps))
    assert len(evidence.events) == 2700
    began = time.process_time()
    assert judge(built, evidence).findings == ()
    assert time.process_time() - began < 0.8
