"""`flowproof check`: read specs and cassettes, run nothing."""

from __future__ import annotations

from typing import Annotated

import typer

from flowproof_runner.cli import options

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command()
def check(
    paths: options.Paths,
    explain: Annotated[bool, typer.Option("--explain", help="Say what of each request is compared.")] = False,
) -> None:
    """Check specs and cassettes; run nothing.

    Everything wrong is said at once, with its place; the exit code is then 2.

    \b
    flowproof check flows --explain
    """
    from flowproof_runner.check.checking import check as checked

    found = checked(paths, explain=explain)
    for line in found.lines:
        print(line)
    for problem in found.problems:
        typer.echo(problem, err=True)
    raise typer.Exit(2 if found.problems else 0)
