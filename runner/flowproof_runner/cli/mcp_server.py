"""`flowproof mcp-server`: flowproof as tools of an MCP client."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flowproof_addons import FlowproofError

app = typer.Typer(rich_markup_mode=None, add_completion=False)


class SdkMissing(FlowproofError):
    """The official MCP SDK, which only this command needs, is not installed."""


@app.command()
def mcp_server(
    root: Annotated[Path, typer.Option("--root", help="Folder below which files may be read.")] = Path("."),
) -> None:
    """Serve run_contract, explain_report, run_flow, list_specs and show_trace over stdio.

    Standard output carries JSON-RPC and nothing else.

    \b
    flowproof mcp-server --root .
    """
    try:
        from flowproof_runner.mcp_server.server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types", "anyio"):
            raise
        raise SdkMissing("the MCP SDK is not installed: install flowproof with its 'mcp' extra") from error
    serve(root.absolute())
