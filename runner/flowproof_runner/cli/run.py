"""`flowproof run`: replay."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flowproof_addons import FlowproofError

app = typer.Typer(rich_markup_mode=None, add_completion=False)


class RetriesRefused(FlowproofError):
    """`--retries` was asked for at replay."""


@app.command()
def run(
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
    json: Annotated[bool, typer.Option("--json", help="Only the report, as JSON, on stdout.")] = False,
    record_missing: Annotated[
        bool, typer.Option("--record-missing", help="Record flows that have no cassette, from the real model.")
    ] = False,
    retries: Annotated[int | None, typer.Option("--retries", help="Refused, with the reason.")] = None,
) -> None:
    """Replay agents offline; fail on the first drift.

    The agents run for real, their models answer from the cassettes, and nothing leaves this machine.

    Exit codes: 0 pass, 1 a check failed, 2 bad spec, usage or machine, 3 a critical safety finding.
    """
    if retries is not None:
        raise RetriesRefused(
            "--retries is refused: a replay is deterministic, so a flow that fails once and passes once is a finding"
            " (the agent's requests depend on time, order or chance), and trying again would hide it. Pin what may"
            " differ (docs/matching.md), or make the agent send the same request twice"
        )
    from flowproof_runner.cli.execute import Options, execute
    from flowproof_runner.inspect.web import asked

    raise typer.Exit(
        execute(
            Options(
                "run",
                tuple(paths),
                jobs,
                keyword,
                fail_fast,
                junit,
                json,
                record_missing,
                html=html,
                web=asked(web, web_port),
            ),
            ctx.obj,
        )
    )
