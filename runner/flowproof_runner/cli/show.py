"""`flowproof show`: a trace as a readable timeline."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command()
def show(
    target: Annotated[
        Path | None,
        typer.Argument(help="Trace, cassette, spec, run folder or run id; default: the latest run."),
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="Cut nothing short.")] = False,
) -> None:
    """Show a trace as a readable timeline.

    \b
    flowproof show                     the latest run
    flowproof show flows/a.flow.yaml   a spec's cassette
    """
    from flowproof_runner.inspect.showing import show as shown

    print(shown(target, full=full), end="")
