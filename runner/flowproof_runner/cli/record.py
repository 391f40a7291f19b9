"""`flowproof record`: run the real agent against the real model and keep what crossed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command()
def record(
    ctx: typer.Context,
    paths: Annotated[list[Path], typer.Argument(help="Specs, and folders of specs (*.flow.yaml).")],
    jobs: Annotated[str, typer.Option("--jobs", "-j", help="Flows at a time: a number, or auto.")] = "1",
    keyword: Annotated[
        str | None, typer.Option("-k", help="Only flows whose path or name fits: 'booking and not slow'.")
    ] = None,
    fail_fast: Annotated[bool, typer.Option("--fail-fast", help="Begin no flow after one has failed.")] = False,
    junit: Annotated[Path | None, typer.Option("--junit", help="Also write JUnit XML to this file.")] = None,
    web: Annotated[bool, typer.Option("--web", help="Run in mitmweb, live, and leave it open.")] = False,
    web_port: Annotated[int, typer.Option("--web-port", help="Of mitmweb; default: any free one.")] = 0,
    html: Annotated[
        Path | None, typer.Option("--html", help="Also write the report as one HTML page to this file.")
    ] = None,
    twice: Annotated[
        bool, typer.Option("--twice", help="Replay each recording at once and propose pins for what differs.")
    ] = False,
    write: Annotated[bool, typer.Option("--write", help="With --twice: write the pins into the specs.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Only the report, as JSON, on stdout.")] = False,
) -> None:
    """Record agents against the real model.

    A cassette is written beside each spec whose assertions all hold.

    Where the model is: FLOWPROOF_AGENT_UPSTREAM and FLOWPROOF_AGENT_KEY, else the provider's own variables
    (OPENAI_BASE_URL, OPENAI_API_KEY, ANTHROPIC_API_KEY, ...).
    """
    from flowproof_runner.cli.execute import Options, execute
    from flowproof_runner.inspect.web import asked

    if write and not twice:
        raise typer.BadParameter("--write goes with --twice")
    options = Options(
        "record",
        tuple(paths),
        jobs,
        keyword,
        fail_fast,
        junit,
        json,
        html=html,
        web=asked(web, web_port),
        twice=twice,
        write=write,
    )
    raise typer.Exit(execute(options, ctx.obj))
