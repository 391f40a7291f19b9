"""`flowproof heal`: bring cassettes up to date with an agent that was changed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flowproof_runner.cli import options

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command()
def heal(
    paths: options.Paths,
    jobs: options.Jobs = "1",
    apply: Annotated[bool, typer.Option("--apply", help="Replace the cassettes, if every flow holds.")] = False,
    summary: Annotated[Path | None, typer.Option("--summary", help="Also write the Markdown summary here.")] = None,
) -> None:
    """Record again into proposals and show what the agent does and is told differently.

    Exit codes: 0 nothing differs or applied, 1 a proposal waits or a check failed, 2 bad spec or machine, 3 critical.

    \b
    flowproof heal flows                         look
    flowproof heal flows -j 4 --apply            and accept
    flowproof heal flows --summary drift.md      in CI
    """
    from flowproof_runner.heal.command import heal as run

    raise typer.Exit(run(paths, apply=apply, markdown=summary, jobs=jobs))
