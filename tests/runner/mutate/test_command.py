"""`flowproof mutate` of recorded flows and reports: worlds, thresholds, and what cannot be mutated."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flowproof_runner.findings import Exit
from flowproof_runner.mutate.command import MutateError, Options, mutate
from flowproof_runner.mutate.worlds import WorldsError

CASSETTE = Path(__file__).parents[3] / "specs" / "booking.trace.json"
SPEC = """\
name: Booking assistant books a flight
app: agent
agent: { command: never run }
steps:
  - prompt: Book me a flight to Nairobi tomorrow
  - assert: reply contains booked
expect:
  calls: [search_flights, exactly 1 of create_booking, at most 2 calls]
  order: [search_flights before create_booking]
  args: ["create_booking where flight.id equals FLIGHT"]
"""
FOUND = "result(search_flights).flights[].id"

type Flow = Callable[..., Path]


@pytest.fixture
def flow(tmp_path: Path) -> Flow:
    """A flow with a contract, its flight called `id`."""

    def written(name: str, flight: str = FOUND, id: str = "KQ311") -> Path:
        path = tmp_path / f"{name}.flow.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(SPEC.replace("FLIGHT", flight))
        path.with_name(path.name.replace(".flow.yaml", ".trace.json")).write_text(
            CASSETTE.read_text().replace("KQ311", id)
        )
        return path

    return written


def studied(capsys: pytest.CaptureFixture[str], path: Path, **options: Any) -> tuple[int, dict[str, Any]]:
    code = mutate(path, Options(as_json=True, **options))
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return code, found


@pytest.mark.parametrize(
    ("own", "theirs", "verdict", "code"),
    [
        (FOUND, FOUND, "accepted", Exit.PASS),
        ("KQ311", FOUND, "false alarm", Exit.FAILED),
        (FOUND, "KQ311", "invalid", Exit.UNUSABLE),
    ],
)
def test_other_recordings_are_the_worlds_of_a_flow(
    own: str, theirs: str, verdict: str, code: Exit, flow: Flow, capsys: pytest.CaptureFixture[str]
) -> None:
    """A literal accepts its own run only; a world that is wrong by its own spec says nothing."""
    path = flow("booking", own)
    flow("worlds/other", theirs, "KQ999")
    found = studied(capsys, path, worlds=path.parent / "worlds")
    assert [world["verdict"] for world in found[1]["worlds"]] == [verdict]
    assert found[0] == code


def test_the_threshold_is_for_every_score(flow: Flow, capsys: pytest.CaptureFixture[str]) -> None:
    path = flow("booking")
    code, found = studied(capsys, path)
    percent = found["score"]["percent"]
    assert code == Exit.PASS
    assert 0 < found["control"]["percent"] < percent < 100
    assert studied(capsys, path, threshold=percent + 0.1)[0] == Exit.FAILED
    assert all(survivor["wouldKill"] for survivor in found["score"]["survivors"])
    assert all(mutant["reason"] for mutant in found["score"]["noFault"])


def test_what_says_nothing_is_refused(flow: Flow, tmp_path: Path) -> None:
    path = flow("booking")
    with pytest.raises(MutateError, match="a flow is mutated as it was recorded"):
        mutate(path, Options(command=("true",)))
    with pytest.raises(MutateError, match="the checks fail on the run as it is"):
        mutate(flow("wrong", "KQ999"), Options())
    with pytest.raises(WorldsError, match="holds no world"):
        mutate(path, Options(worlds=tmp_path / "nowhere"))


def test_a_report_of_a_broken_run_is_refused(tmp_path: Path) -> None:
    contract, report = tmp_path / "c.yml", tmp_path / "r.json"
    contract.write_text('schemaVersion: "0.2"\nid: c\ninput: { message: go }\nexpect: { calls: [at most 3 calls] }\n')
    decision = {"status": "runtime_failed", "findings": []}
    report.write_text(json.dumps({"reportVersion": "0.1", "decision": decision, "evidence": []}))
    with pytest.raises(MutateError, match="this run broke off"):
        mutate(contract, Options(recorded=report))
