"""`flowproof run`: replay."""

from __future__ import annotations

from typing import Annotated

import typer

from flowproof_addons import FlowproofError
from flowproof_runner.cli import options

app = typer.Typer(rich_markup_mode=None, add_completion=False)


class RetriesRefused(FlowproofError):
    """`--retries` was asked for at replay."""


@app.command()
def run(
    ctx: typer.Context,
    paths: options.Paths,
    jobs: options.Jobs = "1",
    keyword: options.Keyword = None,
    fail_fast: options.FailFast = False,
    junit: options.Junit = None,
    web: options.Web = False,
    web_port: options.WebPort = 0,
    html: options.Html = None,
    json: options.Json = False,
    record_missing: Annotated[
        bool, typer.Option("--record-missing", help="Record flows that have no cassette, from the real model.")
    ] = False,
    retries: Annotated[int | None, typer.Option("--retries", help="Refused, with the reason.")] = None,
) -> None:
    """Replay agents offline; fail on the first drift.

    The agents run for real, their models answer from the cassettes, and nothing leaves this machine.

    \b
    flowproof run specs -j auto                     all specs of a folder
    flowproof run specs -k 'booking and not slow'   some of them
    flowproof run specs --junit flowproof.xml       for a CI job

    Exit codes: 0 pass, 1 a check failed, 2 bad spec, usage or machine, 3 a critical safety finding.
    """
    if retries is not None:
        raise RetriesRefused(
            "--retries is refused: a replay is deterministic, so a flow that fails once and passes once is a finding"
            " (the agent's requests depend on time, order or chance), and trying again would hide it. Pin what may"
            " differ (docs/matching.md), or make the agent send the same request twice"
        )
    from flowproof_runner.cli.execute import execute
    from flowproof_runner.inspect.web import asked
    from flowproof_runner.invocation.asked import Options

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
