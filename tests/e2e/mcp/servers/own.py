"""Our own server on the 2.x Python SDK: everything a server may do while a call is open, in either era."""

from __future__ import annotations

import asyncio
import sys

from mcp.server.mcpserver import Context, MCPServer
from pydantic import BaseModel

server = MCPServer("own", instructions="A server for tests.")


class Person(BaseModel):
    """What is asked for."""

    name: str


@server.tool()
async def echo(text: str, delay: float = 0) -> str:
    """Say it again, after a while."""
    await asyncio.sleep(delay)
    return f"echo {text}"


@server.tool()
async def steps(count: int, ctx: Context) -> str:
    """Report progress."""
    for done in range(1, count + 1):
        await ctx.report_progress(done, count, f"step {done}")
    return "all steps"


@server.tool()
async def chatty(ctx: Context) -> str:
    """Log while working."""
    await ctx.info("first")
    await ctx.info("second")
    return "logged"


@server.tool()
async def who(ctx: Context) -> str:
    """Ask the user."""
    found = await ctx.elicit("What is your name?", Person)
    return f"{found.action}: {found.data.name if found.action == 'accept' else ''}"


@server.tool()
def fail() -> str:
    """Never work."""
    raise ValueError("it never works")


@server.resource("note://{name}")
def note(name: str) -> str:
    """A note."""
    return f"note {name}"


@server.prompt()
def greet(name: str) -> str:
    """A greeting."""
    return f"Greet {name}."


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run("streamable-http", port=int(sys.argv[1]))
    else:
        server.run("stdio")
