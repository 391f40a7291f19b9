"""Starting a program under containment, from the tool's side."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

from flowproof_runner.containment import machine
from flowproof_runner.containment.order import Order, Program
from flowproof_runner.containment.policy import Policy
from flowproof_runner.containment.process import TOKEN, ContainedProcess, NotContained

type Stream = int | IO[Any]

_PACKAGES: Final = str(Path(__file__).resolve().parents[2])
BOOT: Final = """
import gc, sys
gc.disable()  # nothing is garbage while modules are imported; a tenth of the start
sys.path.insert(0, sys.argv[1])
from flowproof_runner.containment.supervisor import main
gc.enable()
main()
"""


@dataclass(frozen=True, slots=True)
class Contained:
    """Starts programs under one policy."""

    policy: Policy
    folder: Path
    """The run folder: what the agent destroys below it is not reported."""
    boot: str = BOOT
    """What the supervisor runs. Tests that must see an attack succeed give a naive one."""

    def spawn(
        self,
        argv: Sequence[str],
        env: Mapping[str, str],
        cwd: Path,
        stdin: Stream = subprocess.DEVNULL,
        stdout: Stream = subprocess.DEVNULL,
        stderr: Stream = subprocess.DEVNULL,
    ) -> ContainedProcess:
        """Start a program, and all it will start, under the filter.

        The streams are open files, descriptors or DEVNULL. Raises NotContained if a step of the launch fails (nothing
        of the program has run then), and OSError if the program itself cannot be executed.
        """
        if sys.platform != "linux":
            raise NotContained("egress containment is Linux only")
        from flowproof_runner.containment.filter import NoCompiler, program  # made of what only Linux has

        with ExitStack() as opened:
            zero, one, two = (_duplicate(stream, opened) for stream in (stdin, stdout, stderr))
            errors = tempfile.TemporaryFile()
            supervisor = _supervisor(self.boot, (zero, one, two), errors)
            try:
                # While its interpreter starts. Which of the two it is, the launch finds out.
                writes, musl = self.policy.writes, machine.has_musl()
                under, alone = (program(landlock=domain, writes=writes, musl=musl) for domain in (True, False))
            except NoCompiler as error:
                supervisor.communicate()
                errors.close()
                raise NotContained(str(error)) from error
            token = f"{supervisor.pid}-{os.urandom(8).hex()}"
            wanted = Program(tuple(argv), {**env, TOKEN: token}, str(cwd), (zero, one, two), (under, alone))
            order = Order(wanted, self.policy, str(self.folder.resolve()))
            return ContainedProcess(supervisor, errors, order, token)


def _supervisor(boot: str, streams: tuple[int, ...], errors: IO[bytes]) -> subprocess.Popen[bytes]:
    kept = {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-X", "utf8", "-c", boot, _PACKAGES],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        env=kept,  # nothing of ours that an agent could read there
        cwd="/",
        pass_fds=streams,
        start_new_session=True,  # Ctrl-C is for the tool, which then ends the tree
    )


def _duplicate(stream: Stream, opened: ExitStack) -> int:
    if isinstance(stream, int):
        fd = os.open(os.devnull, os.O_RDWR) if stream == subprocess.DEVNULL else os.dup(stream)
    else:
        fd = os.dup(stream.fileno())
    opened.callback(os.close, fd)
    return fd
