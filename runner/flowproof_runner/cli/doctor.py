"""`flowproof doctor`: is this agent wired to flowproof?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command()
def doctor(
    agent: Annotated[str | None, typer.Option("--agent", help="The command that starts it.", metavar="CMD")] = None,
    prompt: Annotated[str | None, typer.Option("--prompt", help="What to ask of it.", metavar="TEXT")] = None,
    timeout: Annotated[str | None, typer.Option("--timeout", help="60s, 5m: when to stop it.", metavar="S")] = None,
    spec: Annotated[Path | None, typer.Option("--spec", help="Take the agent from this spec.", metavar="FILE")] = None,
    once: Annotated[bool, typer.Option("--once", help="Run it once; do not look for what varies.")] = False,
) -> None:
    """Run an agent against a stand-in model and tell what reached flowproof and what went elsewhere.

    \b
    flowproof doctor --agent "python3 my_agent.py"
    flowproof doctor --spec flows/first.flow.yaml

    Needs no key and no network. Exit codes: 0 wired, 1 nothing arrived or the agent went elsewhere, 2 it could not be
    run.
    """
    from flowproof_runner.doctor.command import Options
    from flowproof_runner.doctor.command import doctor as run

    raise typer.Exit(run(Options(agent, prompt, timeout, spec, once)))
