"""`flowproof mcp-server`: flowproof's runs as tools of an MCP client, over stdio.

A client runs flowproof with this; it does not test the client's own agent. Nothing but JSON-RPC goes to stdout.
Files are read below one folder only; the commands of a contract are trusted code, as everywhere in flowproof.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Event

from anyio import from_thread, to_thread
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field

from flowproof_addons import FlowproofError
from flowproof_runner.mcp_server import tools
from flowproof_runner.mcp_server.tools import ContractTold, ReportTold, SpecsTold
from flowproof_runner.result import FlowResult

_INSTRUCTIONS = (
    "Runs flowproof's contract and flow checks. Verdicts are deterministic: exit code 0 passed, 1 a check failed,"
    " 2 the run itself is broken, 3 a critical safety finding."
)


class Shown(BaseModel):
    """A trace or run for people."""

    text: str = Field(description="A readable timeline.")


@dataclass(frozen=True, slots=True)
class Root:
    """The folder that may be read."""

    folder: Path

    def file(self, path: str) -> Path:
        """The path if it lies below the folder. Raises FlowproofError if it does not."""
        found = (self.folder / path).resolve()
        if not found.is_relative_to(self.folder.resolve()):
            raise FlowproofError(f"{path!r} is outside {str(self.folder)!r}: start the server in a folder above it")
        return found


def serve(folder: Path) -> None:
    """Serve until the client hangs up."""
    server(folder).run("stdio")


def server(folder: Path) -> MCPServer[object]:
    """The server with its tools; files are read below `folder` only."""
    root = Root(folder)
    made = MCPServer[object]("flowproof", instructions=_INSTRUCTIONS)
    reads = ToolAnnotations(read_only_hint=True)

    @made.tool(description="Run a contract file over an adapter; findings and exit code.", structured_output=True)
    async def run_contract(path: str, ctx: Context, command: list[str] | None = None, repeat: int = 1) -> ContractTold:
        def told(done: int) -> None:
            from_thread.run(ctx.report_progress, done, repeat)

        def work(cancelled: Event) -> ContractTold:
            file = root.file(path)
            return tools.run_contract(file, command or [], repeat, folder, cancelled, told)

        return await _away(work)

    @made.tool(description="What a contract report says.", structured_output=True, annotations=reads)
    async def explain_report(path: str) -> ReportTold:
        return await _away(lambda _: tools.explain_report(root.file(path)))

    @made.tool(description="Replay a recorded flow (*.flow.yaml); nothing leaves this machine.", structured_output=True)
    async def run_flow(path: str, ctx: Context) -> FlowResult:
        await ctx.report_progress(0, 1)
        result = await _away(lambda cancelled: tools.run_flow(root.file(path), folder, cancelled))
        await ctx.report_progress(1, 1)
        return result

    @made.tool(description="The flows and contracts below a folder.", structured_output=True, annotations=reads)
    async def list_specs(path: str = ".") -> SpecsTold:
        return await _away(lambda _: tools.list_specs(root.file(path), folder))

    @made.tool(description="A cassette, trace or run as a timeline.", structured_output=True, annotations=reads)
    async def show_trace(path: str) -> Shown:
        return Shown(text=await _away(lambda _: tools.show_trace(root.file(path))))

    return made


async def _away[T](work: Callable[[Event], T]) -> T:
    """Blocking work in a thread; cancelling the request cancels it, and ends what it started."""
    cancelled = Event()
    try:
        return await to_thread.run_sync(partial(work, cancelled), abandon_on_cancel=True)
    except FlowproofError as error:
        raise ToolError(str(error)) from error
    finally:
        cancelled.set()
