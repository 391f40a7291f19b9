"""The `flowproof` command. The one place where errors become messages and exit codes."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from flowproof_runner.program import streams

if TYPE_CHECKING:
    from flowproof_runner.boundary.ahead import Ahead


def main() -> NoReturn:
    """Run the command line in `sys.argv` and exit. Whatever happens, no process it started is left."""
    gc.set_threshold(100_000, 50, 50)  # nearly all that is allocated at first stays: no garbage to look for
    streams.prepare()
    if sys.argv[1:] == ["--version"]:
        sys.exit(_flushed(run(sys.argv[1:])))  # answered before anything heavy is imported
    from flowproof_runner.program.interruption import Interrupted, interruptible

    try:
        with interruptible():
            code = _swept(sys.argv[1:])
    except Interrupted as signal:
        streams.tell(f"flowproof: interrupted ({signal})\n", sys.stderr)
        code = signal.exit_code
    gc.freeze()  # nor now, for the process ends
    sys.exit(_flushed(code))


def run(arguments: Sequence[str], started: Ahead | None = None) -> int:
    """Run one command line; its exit code. `started`: a mitmdump for whoever wants one."""
    if list(arguments) == ["--version"]:
        from flowproof_runner.program.version import version

        return 0 if streams.tell(f"flowproof {version()}\n", sys.stdout) else 2
    from flowproof_addons import FlowproofError

    try:
        return _command(arguments, started)
    except FlowproofError as error:
        streams.tell(f"flowproof: {error}\n", sys.stderr)
    except BrokenPipeError:
        streams.nowhere(sys.stdout.fileno())  # `| head`: nobody is there to be told
        return 1
    except Exception as error:
        from flowproof_runner.program import bugs

        streams.tell(f"flowproof: {bugs.tell(error)}\n", sys.stderr)
    return 2


def _flushed(code: int) -> int:
    """The exit code, unless what it stands for could not be printed. A reader that has gone wanted no more."""
    return code if streams.tell("", sys.stdout) else code or 2


def _swept(arguments: Sequence[str]) -> int:
    try:
        os.getcwd()
    except OSError:
        streams.tell("flowproof: the folder it was started in is gone: change into one that is there\n", sys.stderr)
        return 2
    try:
        if arguments[:1] not in (["run"], ["record"]):
            return run(arguments)
        from flowproof_runner.boundary.ahead import ahead
        from flowproof_runner.records.runs import root_of

        with ahead(arguments, root_of(Path.cwd(), os.environ)) as started:
            return run(arguments, started)
    finally:
        # Only where an agent may have been started is there anything to end.
        tree = sys.modules.get("flowproof_runner.drivers.tree")
        if tree is not None:
            tree.end_all()


def _command(arguments: Sequence[str], started: Ahead | None) -> int:
    from flowproof_runner.cli import app

    try:
        app(list(arguments), prog_name="flowproof", obj=started)
    except SystemExit as end:  # Typer ends every command so
        return end.code if isinstance(end.code, int) else int(bool(end.code))
    return 0
