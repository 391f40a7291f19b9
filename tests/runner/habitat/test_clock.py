"""The clocks of Python and Node go as `agent.clock` says, and say so."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from flowproof_runner.drivers.base import DriverError
from flowproof_runner.habitat import clock as clocks
from flowproof_runner.habitat.clock import Clockwork, wound
from flowproof_runner.spec.habitat import Clock

AT = "2026-01-01T12:00:00+02:00"
EPOCH = 1767261600
NODE = str(Path(sys.executable).parent / "node")

PYTHON_ASKS = """
import datetime as d, json, time
utc = d.timezone.utc
print(json.dumps([
    time.time(), time.time_ns() // 10**9, time.strftime("%Y-%m-%d", time.gmtime()), time.gmtime().tm_hour, time.ctime(),
    d.datetime.now(utc).isoformat(), d.datetime.now().isoformat(), d.datetime.today().isoformat(),
    d.date.today().isoformat(), isinstance(d.datetime.now(), d.datetime), type(d.datetime.now()) is d.datetime,
]))
"""
PYTHON_TOLD = [
    EPOCH, EPOCH, "2026-01-01", 10, "Thu Jan  1 10:00:00 2026",
    "2026-01-01T10:00:00+00:00", "2026-01-01T10:00:00", "2026-01-01T10:00:00",
    "2026-01-01", True, True,
]  # fmt: skip
NODE_ASKS = """
class Later extends Date {}
console.log(JSON.stringify([
  Date.now(), new Date().toISOString(), new Date(0).getTime(), new Date(2020, 1, 2).getDate(), Date.UTC(1970, 0),
  new Date() instanceof Date, new Date().constructor === Date, typeof Date(), Date().slice(0, 15),
  new Later().toISOString(), new Later() instanceof Later,
  new Intl.DateTimeFormat("en", { timeZone: "UTC" }).format(), new Date().toLocaleDateString("en-CA"),
]));
"""
NODE_TOLD = [
    EPOCH * 1000, "2026-01-01T10:00:00.000Z", 0, 2, 0,
    True, True, "string", "Thu Jan 01 2026",
    "2026-01-01T10:00:00.000Z", True,
    "1/1/2026", "2026-01-01",
]  # fmt: skip


@pytest.fixture
def ask(tmp_path: Path) -> Callable[..., object]:
    def run(clock: Clockwork, *command: str, **env: str) -> object:
        base = {"PATH": os.environ["PATH"], "TZ": "UTC", **env}
        done = subprocess.run(command, env={**base, **clock.variables(base)}, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


def test_python_sees_the_time_it_is_given(tmp_path: Path, ask: Callable[..., object]) -> None:
    clock = wound(Clock(at=AT), tmp_path / "clock")
    assert not clock.honoured
    assert ask(clock, sys.executable, "-c", PYTHON_ASKS) == PYTHON_TOLD
    assert clock.honoured


def test_node_sees_the_time_it_is_given(tmp_path: Path, ask: Callable[..., object]) -> None:
    clock = wound(Clock(at=AT), tmp_path / "a clock")
    assert ask(clock, NODE, "-e", NODE_ASKS) == NODE_TOLD
    assert clock.honoured


def test_a_clock_that_moves_runs_on_from_there(tmp_path: Path, ask: Callable[..., object]) -> None:
    clock = wound(Clock(at=AT, moves=True), tmp_path / "clock")
    waits = "import time; a = time.time(); time.sleep(0.01); b = time.time(); print([a, b - a])"
    told = ask(clock, sys.executable, "-c", waits)
    assert isinstance(told, list)
    began, passed = told
    assert EPOCH <= began < EPOCH + 60
    assert passed > 0


def test_the_environment_keeps_its_own_hooks(tmp_path: Path, ask: Callable[..., object]) -> None:
    (tmp_path / "sitecustomize.py").write_text("import builtins; builtins.theirs = 'theirs'")
    (tmp_path / "theirs.cjs").write_text("globalThis.theirs = 'theirs'")
    clock = wound(Clock(at=AT), tmp_path / "clock")
    python = "import time, json, sys; print(json.dumps([theirs, time.time(), [p for p in sys.path if 'clock' in p]]))"
    assert ask(clock, sys.executable, "-c", python, PYTHONPATH=str(tmp_path)) == ["theirs", EPOCH, []]
    node = "console.log(JSON.stringify([theirs, Date.now()]))"
    told = ask(clock, NODE, "-e", node, NODE_OPTIONS=f"--require={tmp_path / 'theirs.cjs'}")
    assert told == ["theirs", EPOCH * 1000]


def test_a_process_that_loads_no_hook_is_not_taken_for_one_that_does(
    tmp_path: Path, ask: Callable[..., object]
) -> None:
    clock = wound(Clock(at=AT), tmp_path / "clock")
    before = time.time()
    assert ask(clock, sys.executable, "-I", "-c", "import time; print(time.time())") >= before  # type: ignore[operator]
    assert not clock.honoured


def test_libfaketime_that_is_not_installed_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clocks, "_LIBRARIES", (f"{tmp_path}/*.so",))
    with pytest.raises(DriverError, match="libfaketime is not installed"):
        wound(Clock(at=AT, libfaketime=True), tmp_path / "clock")
    (tmp_path / "libfaketime.so").touch()
    clock = wound(Clock(at=AT, libfaketime=True), tmp_path / "clock")
    variables = clock.variables({"LD_PRELOAD": "other.so"})
    assert variables["LD_PRELOAD"] == f"{tmp_path}/libfaketime.so:other.so"
    assert variables["FAKETIME"] == "2026-01-01 10:00:00"
