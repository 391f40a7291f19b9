"""`flowproof audit`: what past runs prove about the controls that specs declare."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command()
def audit(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of specs (*.flow.yaml), or one spec.")],
    json: Annotated[bool, typer.Option("--json", help="Only the audit, as JSON, on stdout.")] = False,
    since: Annotated[
        str | None, typer.Option("--since", metavar="RUN", help="The run to compare with: its id or folder.")
    ] = None,
) -> None:
    """Show each control with its newest evidence; run nothing.

    A control is a spec with `control:`. Its newest record counts, whichever run it is from.

    Exit codes: 0 all certified, 1 a control is lost, failing or no longer certified, 2 one cannot be certified here,
    or the specs or RUN cannot be read.

    \b
    flowproof audit specs --since 20261201-101500-1f2e   what was lost since that run
    """
    from flowproof_runner.cli.auditing import audited

    found = audited(folder, since)
    print(found.json if json else found.text, end="")
    raise typer.Exit(found.exit_code)
