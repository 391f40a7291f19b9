"""The command driver delivers the task, and leaves nothing behind however the agent behaves."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from threading import Thread, Timer

import psutil
import pytest

from flowproof_runner.drivers import command
from flowproof_runner.drivers.base import DriverError, DriverResult, Task
from flowproof_runner.drivers.command import Command

type MakeTask = Callable[..., Task]
type MakeCommand = Callable[..., Command]

SLEEPER = "import time; time.sleep(60)"
STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"
DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        open(sys.argv[1], "w").write(str(os.getpid()))
        time.sleep(60)
    os._exit(0)
os.wait()
while not os.path.exists(sys.argv[1]) or not open(sys.argv[1]).read():
    time.sleep(0.005)
"""
GRANDCHILD = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)"])
print(child.pid, flush=True)
"""


def text(path: Path | None) -> str:
    assert path is not None
    return path.read_text()


def alive(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def test_the_agent_gets_its_prompt_addresses_and_words_as_they_are(
    make_task: MakeTask, make_command: MakeCommand
) -> None:
    script = "import json, os, sys; print(json.dumps([sys.argv[1:], os.environ['OPENAI_BASE_URL'], os.environ['X']]))"
    command = make_command(script, "${flowproof.prompt}", "a b;$(c)", env={"X": "at ${flowproof.proxy_url_no_v1}"})
    result = command.run(make_task('two\n"words"'))
    assert json.loads(text(result.stdout)) == [
        ['two\n"words"', "a b;$(c)"],
        "http://127.0.0.1:41233/v1",
        "at http://127.0.0.1:41233",
    ]


@pytest.mark.parametrize(
    "script, code, number",
    [
        ("pass", 0, None),
        ("raise SystemExit(3)", 3, None),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", None, signal.SIGKILL),
    ],
)
def test_how_the_agent_ended_is_told(
    make_task: MakeTask, make_command: MakeCommand, script: str, code: int | None, number: int | None
) -> None:
    result = make_command(script).run(make_task())
    assert (result.ending, result.exit_code, result.signal) == ("exited", code, number)


def test_output_goes_to_files_only_their_owner_reads(make_task: MakeTask, make_command: MakeCommand) -> None:
    result = make_command("import sys; print('out'); print('err', file=sys.stderr)").run(make_task())
    assert (text(result.stdout), text(result.stderr)) == ("out\n", "err\n")
    assert result.stdout is not None and result.stdout.stat().st_mode & 0o777 == 0o600


def test_stdin_is_closed_so_an_agent_that_asks_does_not_hang(make_task: MakeTask, make_command: MakeCommand) -> None:
    assert make_command("import sys; sys.exit(7 if sys.stdin.read() == '' else 1)").run(make_task()).exit_code == 7


def test_a_timeout_ends_an_agent_that_ignores_being_asked(
    make_task: MakeTask, make_command: MakeCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flowproof_runner.drivers.command._STOP_GRACE_S", 0.1)
    result = make_command(STUBBORN).run(make_task(timeout_s=0.5))
    assert (result.ending, result.exit_code) == ("timed out", None)
    assert result.duration_s < 30, "it would have slept for a minute"


def test_an_agent_in_a_printing_loop_is_ended_before_it_fills_the_disk(
    make_task: MakeTask, make_command: MakeCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flowproof_runner.drivers.command._MOST_PRINTED_BYTES", 100_000)
    result = make_command("while True: print('again and again')").run(make_task())
    assert (result.ending, result.exit_code) == ("printed too much", None)


def test_a_divergence_stops_the_agent_in_less_than_a_second(make_task: MakeTask, make_command: MakeCommand) -> None:
    """By the times it is given; how long a busy machine takes to do it is no matter of ours."""
    task = make_task()
    task.diverged.set()
    result = make_command(STUBBORN).run(task)
    assert result.ending == "stopped after divergence"
    assert result.duration_s < 30, "it would have slept for a minute"
    assert command._DIVERGED_GRACE_S + command._HURRY_GRACE_S < 1


def test_an_agent_that_ends_by_itself_after_a_divergence_keeps_its_exit_code(
    make_task: MakeTask, make_command: MakeCommand
) -> None:
    task = make_task()
    task.diverged.set()
    result = make_command("raise SystemExit(4)").run(task)
    assert (result.ending, result.exit_code) == ("exited", 4)


def test_the_end_of_the_invocation_interrupts_the_agent(make_task: MakeTask, make_command: MakeCommand) -> None:
    task = make_task()
    timer = Timer(0.2, task.cancelled.set)
    timer.start()
    result = make_command(SLEEPER).run(task)
    timer.join()
    assert result.ending == "interrupted"


def test_a_grandchild_that_holds_stdout_neither_delays_nor_survives(
    make_task: MakeTask, make_command: MakeCommand
) -> None:
    started = time.monotonic()
    result = make_command(GRANDCHILD).run(make_task())
    assert time.monotonic() - started < 30, "it would have slept for a minute"
    assert not alive(int(text(result.stdout)))
    assert result.survivors == 1
    assert result.notes == ("the agent left 1 process(es) running: they were ended",)


def test_a_daemon_that_left_session_and_parent_does_not_survive(
    make_task: MakeTask, make_command: MakeCommand, tmp_path: Path
) -> None:
    pid_file = tmp_path / "daemon.pid"
    result = make_command(DAEMON, str(pid_file)).run(make_task())
    assert (result.ending, result.survivors) == ("exited", 1)
    assert not alive(int(pid_file.read_text()))


def test_one_agents_daemon_is_not_ended_with_another_agent(
    make_task: MakeTask, make_command: MakeCommand, tmp_path: Path
) -> None:
    daemon = tmp_path / "daemon.pid"
    script = DAEMON + "\nimport subprocess\nwhile not os.path.exists(sys.argv[2]): time.sleep(0.005)\n"
    results: list[DriverResult] = []
    done = tmp_path / "done"
    other = Thread(target=lambda: results.append(make_command(script, str(daemon), str(done)).run(make_task())))
    other.start()
    try:
        while not daemon.exists() or not daemon.read_text():
            time.sleep(0.005)
        assert make_command("pass").run(make_task()).survivors == 0
        assert alive(int(daemon.read_text()))
    finally:
        done.touch()
        other.join()
    assert results[0].survivors == 1
    assert not alive(int(daemon.read_text()))


def test_an_unknown_handle_is_noted(make_task: MakeTask, make_command: MakeCommand) -> None:
    (note,) = make_command("pass", "${flowproof.promt}").run(make_task()).notes
    assert note.startswith("unknown handle ${flowproof.promt} is passed on as it is")


@pytest.mark.parametrize(
    "words, message",
    [
        (("no-such-program-here",), "agent.command: 'no-such-program-here' was not found, started in"),
        (("./not-executable",), "agent.command: './not-executable' may not be executed: make it executable"),
        (("a\0b",), "agent.command: 'a\\x00b' cannot be started: embedded null byte"),
        ((), "agent.command is empty"),
    ],
)
def test_a_command_that_cannot_be_started_says_why(
    make_task: MakeTask, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    (tmp_path / "not-executable").write_text("#!/bin/sh\n")
    with pytest.raises(DriverError) as caught:
        Command(words, tmp_path, dict(os.environ)).run(make_task())
    assert str(caught.value).startswith(message)


def test_a_missing_working_directory_is_named(make_task: MakeTask, tmp_path: Path) -> None:
    with pytest.raises(DriverError, match=r"is not a folder: create it or correct `agent\.cwd`"):
        Command(("true",), tmp_path / "gone", dict(os.environ)).run(make_task())
