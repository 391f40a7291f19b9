"""The `flowproof` command. The one place where errors become messages and exit codes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line in `sys.argv` and exit."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run one command line; its exit code.

    Whatever happens, no process it started is left.
    """
    if list(arguments) == ["--version"]:
        return _version()
    from flowproof_runner.interruption import Interrupted, interruptible

    try:
        with interruptible():
            return _guarded(arguments)
    except Interrupted as signal:
        print(f"flowproof: interrupted ({signal})", file=sys.stderr)
        return signal.exit_code


def _version() -> int:
    """Answered before anything heavy is imported."""
    from flowproof_runner.version import version

    print(f"flowproof {version()}")
    return 0


def _guarded(arguments: Sequence[str]) -> int:
    from flowproof_addons import FlowproofError

    try:
        return _command(arguments)
    except FlowproofError as error:
        print(f"flowproof: {error}", file=sys.stderr)
    except Exception as error:
        from flowproof_runner import bugs

        print(f"flowproof: {bugs.tell(error)}", file=sys.stderr)
    finally:
        _end_all()
    return 2


def _command(arguments: Sequence[str]) -> int:
    from flowproof_runner.cli import app

    try:
        app(list(arguments), prog_name="flowproof")
    except SystemExit as end:  # Typer ends every command so
        return end.code if isinstance(end.code, int) else int(bool(end.code))
    return 0


def _end_all() -> None:
    """The last sweep: only where an agent may have been started is there anything to end."""
    tree = sys.modules.get("flowproof_runner.drivers.tree")
    if tree is not None:
        tree.end_all()
