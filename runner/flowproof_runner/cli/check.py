"""`flowproof check`: read specs and cassettes, run nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command()
def check(
    paths: Annotated[list[Path], typer.Argument(help="Specs, and folders of specs (*.flow.yaml).")],
    explain: Annotated[bool, typer.Option("--explain", help="Say what of each request is compared.")] = False,
) -> None:
    """Check specs and cassettes; run nothing.

    Everything wrong is said at once, with its place; the exit code is then 2.
    """
    from flowproof_runner.checking import check as checked

    found = checked(paths, explain=explain)
    for line in found.lines:
        print(line)
    for problem in found.problems:
        typer.echo(problem, err=True)
    raise typer.Exit(2 if found.problems else 0)
