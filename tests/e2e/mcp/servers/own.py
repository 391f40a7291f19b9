"""Our own server on the 2.x Python SDK: everything a server may do while a call is open, in either era."""

from __future__ import annotations

import asyncio
import sys
from typing import Annotated

from mcp.server.elicitation import ElicitationResult
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.resolve import Elicit, ListRoots, Resolve, Sample
from mcp_types import CreateMessageResult, ListRootsResult, SamplingMessage, TextContent
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


# What a tool asks for this way is a request of the server's own before 2026, and since then a result that wants input.


def asked() -> Elicit[Person]:
    return Elicit("What is your name?", Person)


def thought() -> Sample:
    return Sample([SamplingMessage(role="user", content=TextContent(type="text", text="Think."))], max_tokens=9)


def rooted() -> ListRoots:
    return ListRoots()


@server.tool()
async def who(found: Annotated[ElicitationResult[Person], Resolve(asked)]) -> str:
    """Ask the user."""
    return f"{found.action}: {found.data.name if found.action == 'accept' else ''}"


@server.tool()
async def muse(found: Annotated[CreateMessageResult, Resolve(thought)]) -> str:
    """Ask the client's model."""
    return f"{found.model} says {getattr(found.content, 'text', '')}"


@server.tool()
async def where(found: Annotated[ListRootsResult, Resolve(rooted)]) -> str:
    """Ask for the roots."""
    return ", ".join(str(root.uri) for root in found.roots)


@server.tool()
async def grow(ctx: Context) -> str:
    """Offer one tool more."""
    server.add_tool(grown, name="grown")
    await ctx.notify_tools_changed()
    return "grown"


@server.tool()
async def touch(uri: str, ctx: Context) -> str:
    """Change a resource."""
    await ctx.notify_resource_updated(uri)
    return f"touched {uri}"


@server.tool()
def fail() -> str:
    """Never work."""
    raise ValueError("it never works")


def grown() -> str:
    """Not there at first."""
    return "grown"


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
