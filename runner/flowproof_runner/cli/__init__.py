"""The command line: one file per command, imported only when it is used."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated

import typer
from typer.core import TyperCommand, TyperGroup

_COMMANDS = (
    "init",
    "doctor",
    "record",
    "run",
    "check",
    "show",
    "diff",
    "heal",
    "inspect",
    "contract",
    "mutate",
    "audit",
    "mcp",
    "mcp-server",
    "addon",
    "schema",
)


class Commands(TyperGroup):
    """Finds each command in the module of its name, so that none pays for the others' imports."""

    def list_commands(self, ctx: object) -> list[str]:
        """In the order a user meets them."""
        return list(_COMMANDS)

    def get_command(self, ctx: object, cmd_name: str) -> TyperCommand | TyperGroup | None:
        """The command, else None."""
        if cmd_name not in _COMMANDS:
            return None
        command = typer.main.get_command(import_module(f"{__name__}.{cmd_name.replace('-', '_')}").app)
        assert isinstance(command, TyperCommand | TyperGroup)
        command.name = cmd_name
        return command


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def flowproof(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Record an AI agent once, replay it offline for ever, fail on the first drift."""
    if version:
        from flowproof_runner.program.version import version as read

        print(f"flowproof {read()}")
        raise typer.Exit
