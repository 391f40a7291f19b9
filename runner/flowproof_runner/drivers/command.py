"""The agent as a command: started with the boundary's addresses, watched, and ended with all it started."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from flowproof_runner.drivers import environment, own
from flowproof_runner.drivers.base import DriverError, DriverResult, Ending, Task
from flowproof_runner.drivers.guard import guarded
from flowproof_runner.drivers.handles import Handles, handles, warning
from flowproof_runner.drivers.listening import Form, Listening
from flowproof_runner.drivers.spawn import Launch, Plain, Running, Spawner
from flowproof_runner.drivers.tail import tail
from flowproof_runner.drivers.tree import Stopped

MARK = "FLOWPROOF_AGENT"
"""Variable by which an agent's strayed descendants are known."""

_STEP_S = 0.02
_DIVERGED_GRACE_S = 0.3
_STOP_GRACE_S = 2.0
_HURRY_GRACE_S = 0.2
_MOST_PRINTED_BYTES = 256 << 20
"""An agent in a printing loop would fill the disk long before its timeout."""


@dataclass(frozen=True, slots=True)
class Command:
    """Runs an agent's command once."""

    words: tuple[str, ...]
    """Program and arguments, handles not yet filled; no shell is involved."""
    cwd: Path
    shell: Mapping[str, str] = field(repr=False)
    """The environment flowproof was started in."""
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The suite's and the spec's own variables, handles not yet filled."""
    key_variables: tuple[str, ...] = ()
    spawner: Spawner = field(default_factory=Plain)
    stdin: Form = "later"
    """In a conversation: how user turns come on the agent's stdin."""

    def run(self, task: Task) -> DriverResult:
        """Start the command, wait for its end, end what it left."""
        if not self.words or not self.words[0]:
            raise DriverError("agent.command is empty: give the command that starts the agent")
        filled = handles(task.prompt, task.addresses, task.folder, task.places)
        launch = self._launch(task, filled)
        started = time.monotonic()
        with guarded(launch.mark), _listening(task, self.stdin) as listening:
            running = self.spawner.spawn(replace(launch, stdin=listening.reading if listening else None))
            try:
                if listening is not None:
                    listening.started()
                ending = _watch(running, task, launch, started + task.timeout_s, listening)
                duration_s = time.monotonic() - started
            finally:
                # Also when this thread is interrupted: nothing may be left.
                stopped = running.stop(_HURRY_GRACE_S if task.cancelled.is_set() else _grace(task))
        return _result(running, launch, ending, duration_s, stopped, self._warnings(filled))

    def _launch(self, task: Task, filled: Handles) -> Launch:
        mark = secrets.token_hex(8)
        env = environment.build(
            self.shell,
            task.addresses,
            task.prompt,
            key_variables=self.key_variables,
            overrides={name: filled.fill(value) for name, value in self.env.items()},
        )
        return Launch(
            words=tuple(filled.fill(word) for word in self.words),
            cwd=self.cwd,
            environment={**env, MARK: mark},
            stdout=task.folder / "stdout.txt",
            stderr=task.folder / "stderr.txt",
            mark=f"{MARK}={mark}",
        )

    def _warnings(self, filled: Handles) -> tuple[str, ...]:
        return tuple(warning(name, filled) for name in filled.unknown((*self.words, *self.env.values())))


@contextmanager
def _listening(task: Task, form: Form) -> Iterator[Listening | None]:
    """The agent's stdin in a conversation, with the first user turn on it where it belongs there."""
    if task.dialogue is None:
        yield None
        return
    with Listening(form) as listening:
        if form != "later":
            listening.say(task.prompt, 1)
        yield listening


def _watch(running: Running, task: Task, launch: Launch, deadline: float, listening: Listening | None) -> Ending:
    """Wait for whichever comes first: the agent's end, a divergence, the end of the invocation, a limit.

    Meanwhile the user of a conversation goes on; the time it takes them to think is not the agent's.
    """
    while not running.ended.wait(_STEP_S):
        if listening is not None and task.dialogue is not None and not task.diverged.is_set():
            asked = time.monotonic()
            task.dialogue.go_on(listening.say, listening.end)
            listening.flush()
            deadline += time.monotonic() - asked
        if task.cancelled.is_set():
            return "interrupted"
        if task.diverged.is_set():
            # An SDK agent shows the error and ends by itself, which tells more than being killed.
            return "exited" if running.ended.wait(_DIVERGED_GRACE_S) else "stopped after divergence"
        if time.monotonic() >= deadline:
            return "timed out"
        if launch.stdout.stat().st_size + launch.stderr.stat().st_size > _MOST_PRINTED_BYTES:
            return "printed too much"
    return "exited"


def _grace(task: Task) -> float:
    return _HURRY_GRACE_S if task.diverged.is_set() else _STOP_GRACE_S


def _result(
    running: Running, launch: Launch, ending: Ending, duration_s: float, stopped: Stopped, notes: Iterable[str]
) -> DriverResult:
    code = running.returncode if ending == "exited" else None
    return DriverResult(
        ending=ending,
        duration_s=duration_s,
        exit_code=code if code is None or code >= 0 else None,
        signal=-code if code is not None and code < 0 else None,
        stdout=launch.stdout,
        stderr=launch.stderr,
        survivors=stopped.others,
        notes=(*notes, *_left_running(ending, stopped), *_lacking(launch, code)),
    )


def _lacking(launch: Launch, code: int | None) -> Iterable[str]:
    if code:
        said = own.python(launch.words, launch.environment, (*tail(launch.stdout), *tail(launch.stderr)))
        yield from [said] if said else []


def _left_running(ending: Ending, stopped: Stopped) -> Iterable[str]:
    if stopped.left:
        yield f"processes {', '.join(map(str, stopped.left))} of the agent could not be ended: end them by hand"
    elif stopped.others and ending == "exited":
        yield f"the agent left {stopped.others} process(es) running: they were ended"
