"""`flowproof addon`: the path that mitmdump and mitmweb load."""

from __future__ import annotations

import typer

from flowproof_addons import SCRIPT

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command()
def addon() -> None:
    """Print the path of the mitmproxy script.

    \b
    mitmdump -s "$(flowproof addon)" --set flowproof_config=FILE
    """
    print(SCRIPT)
