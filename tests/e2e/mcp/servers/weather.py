"""A weather service as an MCP server; notes in a file that it was started, and each call it carries out.

`weather.py NOTES [PORT]`
"""

from __future__ import annotations

import sys
from pathlib import Path

from mcp.server.mcpserver import MCPServer

server = MCPServer("weather")
notes = Path(sys.argv[1])


def note(text: str) -> None:
    with notes.open("a") as file:
        file.write(text + "\n")


@server.tool()
def get_weather(city: str) -> str:
    """The weather in a city."""
    note(f"get_weather {city}")
    return f"rain in {city}"


@server.tool()
def get_time(city: str) -> str:
    """The time in a city."""
    note(f"get_time {city}")
    return f"noon in {city}"


if __name__ == "__main__":
    note("started")
    if len(sys.argv) > 2:
        server.run("streamable-http", port=int(sys.argv[2]))
    else:
        server.run("stdio")
