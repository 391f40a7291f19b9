"""Adapters that keep the protocol and adapters that break it, as real processes."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import psutil
import pytest

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.drivers import adapter_pipe, adapter_session
from flowproof_runner.drivers.adapter import Adapter, AdapterRun
from flowproof_runner.drivers.backend import Answer, BackendContext, Discovery
from flowproof_runner.drivers.fixtures import Case, Fixtures
from flowproof_runner.evidence.model import Concluded, Decided, Denied, Dispatched, Returned

HELP = """
import json, os, sys, time
def send(**m): print(json.dumps(m), flush=True)
def receive(): return json.loads(sys.stdin.readline())
def ask(id, tool, **arguments): send(type="tool_call", callId=id, tool=tool, arguments=arguments)
def call(id, tool, **arguments): ask(id, tool, **arguments); return receive()
def final(output=None, status="completed"): send(type="final", status=status, output=output)
"""
START = "start = receive()\n"


class Custom:
    """A backend of the test's own."""

    def __init__(self, at: str = "", answer: Answer | None = None) -> None:
        self.at = at
        self.answer = answer or Answer({"ok": True})
        self.closed = 0

    def start(self, context: BackendContext) -> Sequence[Discovery]:
        self._fail("start")
        return ()

    def call(self, tool: str, arguments: Mapping[str, JsonValue]) -> Answer:
        self._fail("call")
        return self.answer

    def close(self) -> None:
        self.closed += 1
        self._fail("close")

    def _fail(self, at: str) -> None:
        if self.at == at:
            raise ValueError("broken")


@pytest.fixture
def adapter(tmp_path: Path) -> Callable[..., AdapterRun]:
    """Runs a script as an adapter over fixtures for the tool `t`, or another backend."""

    def run(script: str, **options: object) -> AdapterRun:
        file = tmp_path / "adapter.py"
        file.write_text(HELP + script)
        settings: dict[str, object] = {
            "words": (sys.executable, "-S", str(file)),
            "cwd": tmp_path,
            "env": dict(os.environ),
            "scenario": "s",
            "message": "do it",
            "backend": Fixtures({"t": (Case({"n": 1}),)}),
            "timeout_s": 10.0,
            **options,
        }
        return adapter_session.run(Adapter(**settings))  # type: ignore[arg-type]  # checked by the dataclass

    return run


def runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def kinds(run: AdapterRun) -> list[str]:
    return [type(event).__name__ for event in run.evidence.events]


def test_a_whole_run_is_written_down(adapter: Callable[..., AdapterRun]) -> None:
    run = adapter(
        START + 'r = call("1", "t", a=2)\n'
        'send(type="confirmation", tool="t", confirmed=True)\nfinal([start, r, os.environ["AGENTDOCTOR_PROTOCOL"]])',
        data={"x": 1},
        has_data=True,
    )
    assert run.problem is None
    assert run.exit_code == 0
    assert kinds(run) == ["Decided", "Dispatched", "Returned", "Confirmed", "Concluded"]
    assert run.evidence.complete
    assert next(run.evidence.of(Concluded)).output == [
        {"type": "run_start", "scenarioId": "s", "input": {"message": "do it", "data": {"x": 1}}},
        {"type": "tool_result", "callId": "1", "tool": "t", "result": {"n": 1}},
        "0.1",
    ]
    assert run.evidence.duration_ms is not None
    assert 0 < run.evidence.duration_ms < 10_000


@pytest.mark.parametrize(
    "script",
    [
        START + 'print(); print("  "); final()',
        START + r"sys.stdout.write(json.dumps({'type':'final','status':'completed'}) + '\r\n')",
        START + "sys.stdout.write(json.dumps({'type':'final','status':'completed'}))",
        "final()",
        START + "print('log', file=sys.stderr); final()",
    ],
    ids=["blank lines", "CRLF", "no last newline", "never reads", "logs on stderr"],
)
def test_what_is_borne_with(adapter: Callable[..., AdapterRun], script: str) -> None:
    assert adapter(script).problem is None


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        (START + "print('hi', flush=True)", "is not JSON"),
        (START + "send(type='other')", "is no message of the protocol"),
        (START + "call('1','t'); call('1','t')", "callId '1' was used twice"),
        (START + "final(); send(type='final', status='completed')", "more after its final message"),
        (START + "final(); sys.exit(3)", "ended with exit code 3"),
        (START, "without a final message"),
        (START + "sys.exit(4)", "ended with exit code 4 without a final message"),
        (START + "os.kill(os.getpid(), 9)", "ended with signal 9 without a final message"),
        (START + "ask('1','t'); sys.exit(0)", "without a final message"),
        (START + "call('1', 'unknown')", "'unknown', but no fixture and no server answers it"),
        (START + "final(); time.sleep(60)", "did not finish in time"),
        (START + "time.sleep(60)", "did not finish in time"),
        (START + "send(type='hello', understands=[]); send(type='hello', understands=[])", "hello must be the first"),
    ],
)
def test_what_breaks_a_run(adapter: Callable[..., AdapterRun], script: str, problem: str) -> None:
    timeout_s = 1.0 if "sleep" in script else 10.0
    run = adapter(script, timeout_s=timeout_s)
    assert run.problem is not None
    assert problem in run.problem
    assert not run.evidence.complete


@pytest.mark.parametrize(
    "script",
    [
        "sys.stdout.write(''.join(json.dumps(dict(type='tool_call', callId=str(i), tool='t')) + '\\n' for i in (1, 2))"
        " + json.dumps(dict(type='final', status='completed')) + '\\n'); sys.stdout.flush(); time.sleep(0.2)",
        "ask('1','t')\nask('2','t')\ntime.sleep(0.3); receive(); receive(); final()",
        "ask('1','t'); time.sleep(0.1); ask('2','t'); time.sleep(0.3); receive(); receive(); final()",
        "ask('1','t'); time.sleep(0.1); final(); time.sleep(0.3)",
        "ask('1','t'); time.sleep(0.1); send(type='confirmation', tool='t', confirmed=True); time.sleep(0.3)",
    ],
    ids=["one chunk", "at once", "next call without reading", "final without reading", "confirmation without reading"],
)
def test_going_on_before_the_result_is_read_breaks_the_protocol_also_with_fixtures(
    adapter: Callable[..., AdapterRun], script: str
) -> None:
    run = adapter(START + script)
    assert run.problem is not None
    assert "before" in run.problem


def test_a_tool_without_a_fitting_fixture_is_an_error_of_the_tool_and_the_run_goes_on(
    adapter: Callable[..., AdapterRun],
) -> None:
    backend = Fixtures({"t": (Case(1, call=0), Case(2, arguments={"a": {"b": 1}}))})
    run = adapter(
        START + "final([call('1','t')['result'], call('2','t',a={'b':1,'c':2})['result'], call('3','t')['result']])",
        backend=backend,
    )
    assert run.problem is None
    output = next(run.evidence.of(Concluded)).output
    assert isinstance(output, list)
    assert output[:2] == [1, 2]
    missed = list(run.evidence.of(Returned))[2]
    assert missed.is_error
    assert missed.fixture_miss


def test_output_beyond_the_limits_ends_the_run(
    adapter: Callable[..., AdapterRun], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adapter_pipe, "MAX_STDOUT", 1000)
    run = adapter(START + "final('x' * 2000)")
    assert run.problem == "the adapter wrote more than 1000 bytes to stdout"
    monkeypatch.setattr(adapter_pipe, "MAX_STDERR", 1000)
    run = adapter(START + "sys.stderr.write('y' * 2000); sys.stderr.flush(); time.sleep(1); final()")
    assert run.problem == "the adapter wrote more than 1000 bytes to stderr"


def test_a_large_result_is_written_whole(adapter: Callable[..., AdapterRun]) -> None:
    backend = Fixtures({"t": (Case("z" * 500_000),)})
    run = adapter(START + "ask('1','t'); time.sleep(0.2); final(len(receive()['result']))", backend=backend)
    assert run.problem is None
    assert next(run.evidence.of(Concluded)).output == 500_000


def test_nothing_of_the_adapter_is_left_running(adapter: Callable[..., AdapterRun], tmp_path: Path) -> None:
    script = (
        START + "import subprocess\np = subprocess.Popen([sys.executable, '-S', '-c', 'import time; time.sleep(60)'],"
        " start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)\n"
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(p.pid))\ntime.sleep(60)"
    )
    run = adapter(script, timeout_s=1.0)
    assert run.problem is not None
    assert run.survivors == 1
    assert not runs(int((tmp_path / "pid").read_text()))


def test_an_interruption_ends_the_run_at_once(adapter: Callable[..., AdapterRun]) -> None:
    started = time.monotonic()
    run = adapter(START + "time.sleep(60)", interrupted=lambda: time.monotonic() > started + 0.2)
    assert run.problem == "the run was interrupted"
    assert time.monotonic() - started < 5


def test_an_adapter_that_cannot_be_started_is_a_problem_that_names_it(adapter: Callable[..., AdapterRun]) -> None:
    run = adapter("", words=("/no/such/program",))
    assert run.problem is not None
    assert "/no/such/program" in run.problem


@pytest.mark.parametrize(
    ("at", "problem"),
    [
        ("start", "the backend could not start: broken"),
        ("call", "the backend failed at t: broken"),
        ("close", "the backend could not be closed: broken"),
    ],
)
def test_a_failing_backend_breaks_the_run_and_is_closed_once(
    adapter: Callable[..., AdapterRun], at: str, problem: str
) -> None:
    backend = Custom(at)
    run = adapter(START + "call('1','t'); final()", backend=backend)
    assert run.problem == problem
    assert backend.closed == 1
    assert run.evidence.complete is False
    if at == "close":
        assert kinds(run)[-1] == "Concluded"


def test_a_backend_may_keep_its_result_out_of_the_evidence(adapter: Callable[..., AdapterRun]) -> None:
    backend = Custom(answer=Answer({"token": "s3cret"}, evidence_result={"token": "hidden"}, is_error=True))
    run = adapter(START + "final(call('1','t')['result']['token'])", backend=backend)
    returned = next(run.evidence.of(Returned))
    assert (returned.result, returned.is_error) == ({"token": "hidden"}, True)
    assert next(run.evidence.of(Concluded)).output == "s3cret"


class Cart(Custom):
    """Answers with what it keeps, and goes on changing that and what it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.items: list[JsonValue] = []

    def call(self, tool: str, arguments: Mapping[str, JsonValue]) -> Answer:
        item = arguments["item"]
        assert isinstance(item, dict)
        item["seen"] = True
        self.items.append(item)
        return Answer(self.items)


def test_what_a_backend_changes_later_changes_no_evidence(adapter: Callable[..., AdapterRun]) -> None:
    run = adapter(START + "call('1', 't', item={'n': 1}); call('2', 't', item={'n': 2}); final()", backend=Cart())
    assert [decided.arguments for decided in run.evidence.of(Decided)] == [{"item": {"n": 1}}, {"item": {"n": 2}}]
    first, second = (returned.result for returned in run.evidence.of(Returned))
    assert first == [{"n": 1, "seen": True}]
    assert second == [{"n": 1, "seen": True}, {"n": 2, "seen": True}]


@pytest.mark.parametrize("value", [{1, 2}, float("nan"), object()], ids=["a set", "NaN", "an object"])
def test_an_answer_that_is_no_json_ends_the_run_with_its_reason(
    adapter: Callable[..., AdapterRun], value: object
) -> None:
    backend = Custom(answer=Answer(value))  # type: ignore[arg-type]  # that is the point
    run = adapter(START + "call('1', 't'); final()", backend=backend)
    assert run.problem is not None
    assert run.problem.startswith("the backend gave no JSON for the answer to t")
    assert backend.closed == 1


def refuse_everything(*_: object) -> str:
    return "tool_forbidden"


def test_a_refused_call_ends_an_adapter_that_does_not_understand_refusals(adapter: Callable[..., AdapterRun]) -> None:
    run = adapter(START + "call('1','t'); final()", gate=refuse_everything)
    assert kinds(run) == ["Decided", "Denied"]
    assert run.denied
    assert run.problem is None
    assert not run.evidence.complete


def test_an_adapter_that_understands_refusals_is_told_and_goes_on(adapter: Callable[..., AdapterRun]) -> None:
    run = adapter(
        "send(type='hello', understands=['tool_denied'])\n" + START + "final(call('1','t'))", gate=refuse_everything
    )
    assert kinds(run) == ["Decided", "Denied", "Concluded"]
    assert run.evidence.complete
    assert next(run.evidence.of(Concluded)).output == {
        "type": "tool_denied",
        "callId": "1",
        "tool": "t",
        "reason": "tool_forbidden",
    }
    assert list(run.evidence.of(Dispatched)) == []
    assert next(run.evidence.of(Denied)).reason == "tool_forbidden"
    assert next(run.evidence.of(Decided)).tool == "t"
