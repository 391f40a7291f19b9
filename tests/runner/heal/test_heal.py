"""`flowproof heal`, with a real agent, boundary and model stand-in."""

from __future__ import annotations

import shutil
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from flowproof_runner import entry
from flowproof_runner.heal.command import heal
from flowproof_runner.invocation.jobs import JobsError
from standin import script
from standin.server import StandIn

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def upstream(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    server = StandIn(script.load())
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    monkeypatch.setenv("FLOWPROOF_AGENT_UPSTREAM", server.url)
    yield
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def cassette(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of `booking.flow.yaml`, whose agent has a new prompt since it was recorded."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("FLOWPROOF_RUNS_DIR", raising=False)
    agent = (ROOT / "examples" / "agents" / "stdlib_loop.py").read_text()
    (tmp_path / "agent.py").write_text(agent.replace("You book flights.", "You book trains."))
    spec = (ROOT / "specs" / "booking.flow.yaml").read_text()
    (tmp_path / "booking.flow.yaml").write_text(
        spec.replace("python3 examples/agents/stdlib_loop.py", f"{sys.executable} agent.py")
    )
    return Path(shutil.copy(ROOT / "specs" / "booking.trace.json", tmp_path))


def test_a_drift_is_proposed_then_applied_then_gone(cassette: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = cassette.read_bytes()
    assert entry.run(["heal", "booking.flow.yaml", "--summary", "out/heal.md"]) == 1
    said = capsys.readouterr().out
    assert said.startswith(
        "is told differently\n  system text\n    - You book flights.\n    + You book trains.\n"
        "booking.flow.yaml: differs; proposal: "
    )
    assert said.strip().endswith("proposal.trace.json")
    assert cassette.read_bytes() == before
    assert "+ You book trains." in Path("out/heal.md").read_text()
    assert entry.run(["heal", "booking.flow.yaml", "--apply"]) == 0
    assert "You book trains." in cassette.read_text()
    assert entry.run(["run", "booking.flow.yaml"]) == 0


def test_nothing_is_applied_while_an_assertion_fails(cassette: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = Path("booking.flow.yaml")
    spec.write_text(spec.read_text().replace("reply contains booked", "reply contains refunded"))
    cassette.write_text(cassette.read_text().replace("KQ311", "KQ300"))
    before = cassette.read_bytes()
    assert entry.run(["heal", "booking.flow.yaml", "--apply"]) == 1
    said = capsys.readouterr().out
    assert "nothing was applied: every flow must hold first" in said
    assert "create_booking: flight.id  [asserted by step 3:" in said
    assert "which fails]" in said
    assert cassette.read_bytes() == before


def test_a_flow_without_a_cassette_is_not_healed(cassette: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cassette.unlink()
    assert entry.run(["heal", "booking.flow.yaml"]) == 2
    assert "record the flow first" in capsys.readouterr().out
    assert not cassette.exists()


MEET = """
import os, pathlib, time
pathlib.Path(f"here-{os.getpid()}").touch()
patience = time.monotonic() + 60
while len(list(pathlib.Path().glob("here-*"))) < 2:
    assert time.monotonic() < patience, "the other flow never came"
    time.sleep(0.02)
"""


def test_flows_are_healed_at_a_time_and_told_in_their_order(cassette: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each agent waits for the other, so that one after the other neither would get anywhere."""
    for part in ("flow.yaml", "trace.json"):
        shutil.copy(f"booking.{part}", f"again.{part}")
    agent = Path("agent.py")
    agent.write_text(MEET + agent.read_text())
    assert entry.run(["heal", ".", "-j", "2"]) == 1
    said, progress = capsys.readouterr()
    assert said.count("+ You book trains.") == 1  # the same drift in both
    assert [line.split(":")[0] for line in said.splitlines() if "proposal" in line] == [
        "again.flow.yaml",
        "booking.flow.yaml",
    ]
    assert sorted(line.split(" (")[0] for line in progress.splitlines()) == [
        "again.flow.yaml: recorded again",
        "booking.flow.yaml: recorded again",
    ]
    with pytest.raises(JobsError):
        heal((Path(),), apply=False, markdown=None, jobs="many")
