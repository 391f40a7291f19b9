"""The official SDK's server over streamable HTTP, with one tool."""

import sys

from mcp.server.mcpserver import MCPServer

server = MCPServer("web")


@server.tool(structured_output=True)
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
