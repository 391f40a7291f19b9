"""`flowproof mcp`: what a real MCP server offers, looked at and kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from flowproof_runner.mcp.inspection import Target

app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, add_completion=False, help="Look at MCP servers; keep what they offer."
)

_Server = Annotated[list[str], typer.Argument(help="The server's command, or its URL, after --.")]
_Headers = Annotated[list[str] | None, typer.Option("--header", help="For a URL: 'Name: value'; repeat it.")]
_Timeout = Annotated[float, typer.Option("--timeout", min=0.1, help="Seconds it may take.")]


@app.command("inspect")
def inspect(
    server: _Server,
    header: _Headers = None,
    timeout: _Timeout = 10.0,
    as_json: Annotated[bool, typer.Option("--json", help="All of it, as JSON.")] = False,
) -> None:
    """Print what a server offers: its tools with their arguments, prompts, resources.

    \b
    flowproof mcp inspect -- npx -y @modelcontextprotocol/server-filesystem .
    flowproof mcp inspect --header 'Authorization: Bearer …' -- https://tools.example.com/mcp
    """
    from flowproof_runner.mcp.inspection import inspect as ask
    from flowproof_runner.surface.words import lines

    found = ask(_target(server, header, timeout))
    if as_json:
        print(json.dumps(found.to_json(), indent=2, ensure_ascii=False))
        return
    for line in lines(found):
        print(line)


@app.command("snapshot")
def snapshot(
    file: Annotated[Path, typer.Argument(help="File to write, for mcp[].snapshot.")],
    server: _Server,
    header: _Headers = None,
    timeout: _Timeout = 10.0,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit 1 if the server differs.")] = False,
) -> None:
    """Keep what a server offers in a file; say what changed since the file was written.

    breaking: calls that were right are wrong · prompt: words the model reads · behaviour: annotations and
    capabilities · result: the shape of answers · compatible: nothing that was right is wrong

    \b
    flowproof mcp snapshot snapshots/fs.json -- npx -y @modelcontextprotocol/server-filesystem .
    """
    from flowproof_runner.findings import Exit
    from flowproof_runner.mcp.inspection import inspect_both as ask
    from flowproof_runner.surface.drift import drift
    from flowproof_runner.surface.surface import load, save

    before = load(file) if check or file.exists() else None
    found = ask(_target(server, header, timeout))
    changes = drift(before, found) if before is not None else ()
    for change in changes:
        print(change)
    if check:
        print(f"{file}: {len(changes) or 'no'} change{'' if len(changes) == 1 else 's'}")
        raise typer.Exit(Exit.FAILED if changes else Exit.PASS)
    save(file, found)
    print(f"wrote {file} · {len(found.tools)} tools")


def _target(server: list[str], header: list[str] | None, timeout: float) -> Target:
    from flowproof_runner.mcp.inspection import Target

    pairs = (each.partition(":") for each in header or ())
    return Target(tuple(server), {name.strip(): value.strip() for name, _, value in pairs}, timeout)
