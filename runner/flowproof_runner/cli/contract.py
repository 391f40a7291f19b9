"""`flowproof contract`: contract files over adapters."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, add_completion=False, help="Run contract files over adapters."
)


@app.command("test")
def test(
    file: Annotated[Path, typer.Argument(help="Contract file (YAML or JSON), or a recorded flow.")],
    command: Annotated[list[str] | None, typer.Argument(help="The adapter's command, after --.")] = None,
    repeat: Annotated[int, typer.Option("--repeat", min=1, help="Runs; their outcomes are compared.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="The report as JSON on stdout.")] = False,
    folder: Annotated[Path | None, typer.Option("--reports", help="Where reports go.")] = None,
) -> None:
    """Run a contract: exit 0 pass, 1 a check failed, 2 a broken run, 3 a critical safety finding.

    A recorded *.flow.yaml is replayed as often as --repeat says, and its runs are compared.

    \b
    flowproof contract test contract.yml -- python adapter.py
    flowproof contract test flows/a.flow.yaml --repeat 5
    """
    if file.name.endswith((".flow.yaml", ".flow.yml")):
        from flowproof_runner.cli.repeating import repeat as replayed

        raise typer.Exit(replayed(file, repeat))
    from flowproof_runner.program.unplugged import unplugged

    with unplugged():
        from flowproof_runner.contract.testing import run_file

    raise typer.Exit(run_file(file, tuple(command or ()), repeat=repeat, as_json=as_json, folder=folder))


@app.command("check")
def check(
    file: Annotated[Path, typer.Argument(help="Contract file.")],
    explain: Annotated[bool, typer.Option("--explain", help="Print the expectations in canonical form.")] = False,
) -> None:
    """Read a contract and say everything that is wrong with it; run nothing.

    \b
    flowproof contract check contract.yml --explain
    """
    from flowproof_runner.contract.file import load
    from flowproof_runner.expectations.contract.language.explain import line

    contract = load(file).contract
    print(f"ok  {file} · {len(contract.expectations)} expectations")
    if explain:
        for expectation in contract.expectations:
            print(f"  {expectation.id}: {line(expectation)}")


@app.command("init")
def init(path: Annotated[Path, typer.Argument(help="File to write.")] = Path("contract.yml")) -> None:
    """Write a starter contract and adapter that pass; nothing is overwritten.

    \b
    flowproof contract init contracts/claims.yml
    """
    from flowproof_runner.contract.init import init as write

    for written in write(path):
        print(f"wrote {written}")


@app.command("interface")
def interface(file: Annotated[Path, typer.Argument(help="Contract file.")]) -> None:
    """Print the output shape the contract requires, for the agent's prompt.

    \b
    flowproof contract interface contract.yml
    """
    from flowproof_runner.contract.file import load
    from flowproof_runner.contract.interface import interface as described

    print(described(load(file)), end="")


@app.command("inspect")
def inspect(run: Annotated[Path, typer.Argument(help="Report of a contract run.")]) -> None:
    """Print a report: verdict, findings and events.

    \b
    flowproof contract inspect run.json
    """
    from flowproof_runner.contract.report import event_lines, lines, read

    content = read(run)
    for text in (*lines(content), *event_lines(content)):
        print(text)


@app.command("snapshot")
def snapshot(
    path: Annotated[Path, typer.Argument(help="File to write.")],
    command: Annotated[list[str], typer.Argument(help="The MCP server's command, after --.")],
    timeout: Annotated[float, typer.Option("--timeout", min=0.1, help="Seconds to wait for its catalogue.")] = 10.0,
) -> None:
    """Write what an MCP server offers, to hold it to: mcp[].snapshot, or mcp.toolSnapshot of a contract.

    \b
    flowproof contract snapshot snapshots/fs.json -- npx -y @modelcontextprotocol/server-filesystem .
    """
    from flowproof_runner.contract.snapshot import snapshot as written

    print(f"wrote {path} · {written(path, tuple(command), timeout)} tools")
