"""`flowproof mutate`: how much would these checks catch?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command()
def mutate(
    file: Annotated[Path, typer.Argument(help="Contract file, or a recorded *.flow.yaml with expect:.")],
    command: Annotated[list[str] | None, typer.Argument(help="The adapter's command, after --.")] = None,
    run: Annotated[Path | None, typer.Option("--run", help="Mutate this report's evidence; run nothing.")] = None,
    worlds: Annotated[Path | None, typer.Option("--worlds", help="Folder of worlds that must be accepted.")] = None,
    threshold: Annotated[float | None, typer.Option("--threshold", min=0, max=100, help="Fail below.")] = None,
    reads: Annotated[list[str] | None, typer.Option("--reads", help="A tool that changes nothing.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON on stdout.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Also list the mutants that are no fault.")] = False,
) -> None:
    """Change recorded evidence as a faulty agent would, and count what the checks catch.

    Beside the score always stands the control: the same mutants with the checks stripped.

    \b
    flowproof mutate contract.yml --worlds worlds --threshold 98 -- python adapter.py
    """
    from flowproof_runner.mutate.command import Options
    from flowproof_runner.mutate.command import mutate as study

    options = Options(tuple(command or ()), run, worlds, threshold, tuple(reads or ()), as_json, verbose)
    raise typer.Exit(study(file, options))
