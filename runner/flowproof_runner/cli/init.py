"""`flowproof init`: a first spec and what belongs around it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command()
def init(
    folder: Annotated[Path, typer.Argument(help="The project's folder.", metavar="DIR")] = Path("."),
    agent: Annotated[
        str | None, typer.Option("--agent", help="The command that starts the agent.", metavar="CMD")
    ] = None,
) -> None:
    """Write a first spec, a CI workflow and the lines git needs; nothing is overwritten.

    Without --agent the command is taken from package.json, pyproject.toml or a file like agent.py.

    \b
    flowproof init
    flowproof init . --agent "python3 my_agent.py"
    """
    from flowproof_runner.init.agent import EXAMPLE
    from flowproof_runner.init.files import SPEC
    from flowproof_runner.init.files import init as write

    for step in write(folder, agent):
        print(f"{step.done} {folder / step.path}")
    if EXAMPLE in (folder / SPEC).read_text(encoding="utf-8"):
        print(f"then put your agent's command into {folder / SPEC}")
    there = [] if folder.resolve() == Path.cwd() else [f"cd {shlex.quote(str(folder))}"]  # agents start where we do
    steps = (*there, f"flowproof doctor --spec {SPEC}", f"flowproof record {SPEC}")
    print("next: " + "\n      ".join(steps))
