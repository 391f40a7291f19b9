"""`flowproof record`: run the real agent against the real model and keep what crossed."""

from __future__ import annotations

from typing import Annotated

import typer

from flowproof_runner.cli import options

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command()
def record(
    ctx: typer.Context,
    paths: options.Paths,
    jobs: options.Jobs = "1",
    keyword: options.Keyword = None,
    fail_fast: options.FailFast = False,
    junit: options.Junit = None,
    web: options.Web = False,
    web_port: options.WebPort = 0,
    html: options.Html = None,
    twice: Annotated[
        bool, typer.Option("--twice", help="Replay each recording at once and propose pins for what differs.")
    ] = False,
    write: Annotated[bool, typer.Option("--write", help="With --twice: write the pins into the specs.")] = False,
    interactive: Annotated[
        bool, typer.Option("--interactive", help="Type the user turns of a conversation, and write them into the spec.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Record agents against the real model.

    A cassette is written beside each spec whose assertions all hold.

    Where the model is: FLOWPROOF_AGENT_UPSTREAM and FLOWPROOF_AGENT_KEY, else the provider's own variables
    (OPENAI_BASE_URL, OPENAI_API_KEY, ANTHROPIC_API_KEY, ...).

    \b
    flowproof record flows/booking.flow.yaml         one flow
    flowproof record flows --twice --write           and pin what varies
    flowproof record chat.flow.yaml --interactive    author a conversation by typing it
    """
    from flowproof_runner.cli.execute import execute
    from flowproof_runner.inspect.web import asked
    from flowproof_runner.invocation.asked import Options

    if write and not twice:
        raise typer.BadParameter("--write goes with --twice")
    if interactive and (twice or web or json):
        raise typer.BadParameter("--interactive goes with none of --twice, --web and --json; record again for those")
    asked_for = Options(
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
        interactive=interactive,
    )
    raise typer.Exit(execute(asked_for, ctx.obj))
