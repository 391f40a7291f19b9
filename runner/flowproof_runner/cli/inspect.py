"""`flowproof inspect`: recorded flows in mitmweb."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command()
def inspect(
    targets: Annotated[
        list[Path] | None,
        typer.Argument(help="Traces, cassettes, specs, run folders or run ids; default: the latest run."),
    ] = None,
    port: Annotated[int, typer.Option("--port", help="Of mitmweb; default: any free one.")] = 0,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address, open no browser.")] = False,
) -> None:
    """Look at recorded turns and MCP calls in mitmweb.

    It listens on this machine only, behind a token that is in the address printed. Ctrl-C ends it.

    \b
    flowproof inspect                     the latest run
    flowproof inspect flows/a.flow.yaml   a spec's cassette
    """
    import os
    import sys

    from flowproof_runner.inspect.inspecting import inspect as show
    from flowproof_runner.inspect.web import Web

    show(targets or (), Web(port, browser=sys.stdout.isatty() and not no_browser), Path.cwd(), os.environ)
