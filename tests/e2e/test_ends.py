"""However a run ends, nothing it started is left, and parallel runs do not touch each other."""

from __future__ import annotations

import signal
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from tests.e2e.scenario import PATIENCE_S, Scenario, Started, chat, python
from tests.e2e.upstream import Hold, Upstream, sse, stream

from flowproof_runner.boundary.process import BoundaryProcess

type New = Callable[..., Scenario]


def until(what: str, holds: Callable[[], bool]) -> None:
    """Wait for something that has no event of its own: another process's file, a process's end."""
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, f"{what} did not happen"
        time.sleep(0.02)


@pytest.fixture
def lingering(once: New, scenario: New) -> Scenario:
    """A flow whose agent, once it has had its turn, waits for ever with two stubborn descendants."""
    return once(scenario(python("lingers.py"), ["assert: reply contains Told"]), AGENT_LINGERS="")


def _started(flow: Scenario, command: str) -> Started:
    ready = flow.folder / "ready"
    ready.unlink(missing_ok=True)
    running = flow.start(command, str(flow.spec), AGENT_LINGERS=str(ready))
    until("the agent's turn", ready.exists)
    assert len(running.processes()) >= 5  # the CLI, mitmdump, the agent and its two
    return running


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("command", ["run", "record"])
def test_a_signal_ends_everything(number: signal.Signals, command: str, lingering: Scenario) -> None:
    before = lingering.cassette.read_bytes()
    running = _started(lingering, command)
    running.interrupt(number)
    outcome = running.finish()
    assert outcome.code == 128 + number
    assert outcome.left == ()
    assert "Traceback" not in outcome.said
    assert lingering.cassette.read_bytes() == before


MOMENTS = {"mitmproxy starts": "mitmdump", "the agent starts": "lingers.py"}


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("command", ["run", "record"])
def test_an_interrupt_at_any_moment_ends_everything(moment: str, command: str, lingering: Scenario) -> None:
    """The moments before the agent has had a turn; nothing is half written."""
    before = lingering.cassette.read_bytes()
    running = lingering.start(command, str(lingering.spec), AGENT_LINGERS=str(lingering.folder / "ready"))
    until(moment, lambda: any(_is(p, MOMENTS[moment]) for p in running.processes()))
    running.interrupt()
    outcome = running.finish()
    assert (outcome.code, outcome.left) == (130, ()), outcome.said
    assert "interrupted (SIGINT)" in outcome.said
    assert "Traceback" not in outcome.said
    assert lingering.cassette.read_bytes() == before
    assert list(lingering.folder.rglob("*.tmp")) == []


def test_a_second_interrupt_does_not_leave_anything_either(lingering: Scenario) -> None:
    running = _started(lingering, "run")
    running.interrupt()
    running.interrupt()
    running.interrupt()
    outcome = running.finish()
    assert outcome.code == 130
    assert outcome.left == ()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a killed runner leaves its agent")
@pytest.mark.parametrize("command", ["run", "record"])
def test_everything_dies_with_a_killed_runner(command: str, lingering: Scenario) -> None:
    """SIGKILL cannot be caught: the boundary hangs up, the warden ends the agent and its stubborn descendants."""
    before = lingering.cassette.read_bytes()
    running = _started(lingering, command)
    running.process.kill()
    running.process.wait(PATIENCE_S)
    until("the end of everything", lambda: not running.processes())
    running.finish()
    assert lingering.cassette.read_bytes() == before
    assert lingering.run(AGENT_LINGERS="").code == 0


@pytest.mark.parametrize("command", ["run", "record"])
def test_a_killed_boundary_is_an_error_not_a_pass(command: str, lingering: Scenario) -> None:
    before = lingering.cassette.read_bytes()
    running = _started(lingering, command)
    _kill_boundary(running)
    outcome = running.finish()
    assert (outcome.code, outcome.left) == (2, ()), outcome.said
    assert "the boundary process ended: killed by SIGKILL" in outcome.said
    assert lingering.cassette.read_bytes() == before


def test_a_boundary_that_is_killed_in_the_middle_of_an_answer_records_nothing(planned: New, upstream: Upstream) -> None:
    frames = sse({"choices": [{"index": 0, "delta": {"content": "Told"}}]}, done=False)
    upstream.handler = lambda seen: stream((*frames, Hold("killed")))
    flow = planned([chat(stream=True)])
    running = flow.start("record", str(flow.spec))
    until("the request", lambda: bool(upstream.seen))
    _kill_boundary(running)
    outcome = running.finish()
    assert (outcome.code, outcome.left) == (2, ()), outcome.said
    assert "the boundary process ended: killed by SIGKILL" in outcome.said
    assert not flow.cassette.exists()
    urllib.request.urlopen(f"{upstream.url}/acknowledge/killed").close()


def test_a_boundary_that_nobody_waits_for_ends_by_itself(tmp_path: Path) -> None:
    """Hanging up before it was ready: it ends of its own accord, not by a signal five seconds later."""
    assert BoundaryProcess(tmp_path).end() == 0


def test_an_agent_that_never_ends_is_ended_at_its_timeout(lingering: Scenario) -> None:
    lingering.change(agent={"timeout": "2s"})
    outcome = lingering.run(AGENT_LINGERS=str(lingering.folder / "ready"))
    assert outcome.code == 1
    assert outcome.flow.agent is not None
    assert outcome.flow.agent.ending == "timed out"


def test_descendants_that_outlive_their_agent_are_ended(once: New, scenario: New) -> None:
    """Surprise 23: nobody waits for a grandchild that holds stdout, which it would do for ten minutes."""
    flow = once(scenario(python("lingers.py", "leaves"), ["assert: reply contains Told"]))
    outcome = flow.run()
    assert outcome.code == 0, outcome.said
    assert outcome.flow.duration_s < 60
    assert "left" in outcome.told


def test_an_agent_that_cannot_be_started_is_named(scenario: New) -> None:
    flow = scenario(["no-such-program-anywhere"])
    outcome = flow.record()
    assert outcome.code == 2
    assert "no-such-program-anywhere" in outcome.said


def test_twenty_runs_at_a_time(once: New, planned: New, tmp_path: Path) -> None:
    """Each with a boundary of its own, over one folder."""
    flow = once(planned([chat("one"), chat("two")]))
    started = [flow.start("run", str(flow.spec)) for _ in range(20)]
    outcomes = [one.finish() for one in started]
    assert [o.code for o in outcomes] == [0] * 20, [o.said for o in outcomes if o.code]
    assert all(o.left == () for o in outcomes)


def test_forty_flows_in_one_invocation(once: New, planned: New) -> None:
    flow = once(planned([[chat("one"), chat("two")], chat("three")]))
    for i in range(39):
        flow.copy(f"copy-{i}")
    outcome = flow.cli("run", ".", "-j", "8")
    assert outcome.code == 0, outcome.said
    assert outcome.report is not None
    assert outcome.report.count("pass") == 40


def _kill_boundary(running: Started) -> None:
    (boundary,) = [p for p in running.processes() if _is(p, "mitmdump")]
    boundary.kill()


def _is(process: psutil.Process, name: str) -> bool:
    try:
        return any(Path(word).name == name for word in process.cmdline()[:2])
    except psutil.Error:
        return False


def test_an_interrupted_suite_reports_what_had_ended(lingering: Scenario, upstream: Upstream) -> None:
    quick = lingering.copy("a-quick")
    quick.change(agent={"env": {"AGENT_LINGERS": ""}})
    ready = lingering.folder / "ready"
    running = lingering.start("run", ".", "-j", "1", AGENT_LINGERS=str(ready))
    until("the second agent's turn", ready.exists)
    running.interrupt()
    outcome = running.finish()
    assert outcome.code == 130
    assert outcome.left == ()
    assert "a-quick" in outcome.said
