"""`flowproof diff`: how two runs of an agent differ."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command()
def diff(
    before: Annotated[Path, typer.Argument(metavar="A", help="Trace, cassette, spec, or run folder of one flow.")],
    after: Annotated[Path, typer.Argument(metavar="B", help="The same of the later run.")],
) -> None:
    """Show what an agent does differently in B, apart from what it is told differently.

    Exit codes: 0 the same, 1 different, 2 one of them cannot be read.

    \b
    flowproof diff flows/a.trace.json .flowproof/runs/latest/a/trace.json
    """
    from flowproof_runner.heal.diffing import diff as shown

    text, differs = shown(before, after)
    print(text, end="")
    raise typer.Exit(int(differs))
