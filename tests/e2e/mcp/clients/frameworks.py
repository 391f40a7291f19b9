"""Agent frameworks as MCP clients: lists the tools, then makes the script's calls in the framework's own way.

`frameworks.py langchain|openai-agents|pydantic-ai|fastmcp`
"""

from __future__ import annotations

import asyncio
import re
import sys
from typing import Any

from serving import serve


def _words(error: BaseException) -> str:
    """What an error says, those that a group hides included."""
    inner = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    return "; ".join(map(_words, inner)) if inner else str(error) or repr(error)


async def langchain(target: str, script: list[list[Any]]) -> list[Any]:
    from langchain_mcp_adapters.client import MultiServerMCPClient

    http = target.startswith("http")
    where = {"url": target, "transport": "streamable_http"} if http else {"command": target, "args": []}
    client = MultiServerMCPClient({"own": where if http else {**where, "transport": "stdio"}})
    tools = {tool.name: tool for tool in await client.get_tools()}

    async def call(name: str, arguments: dict[str, Any]) -> Any:
        try:
            found = await tools[name].ainvoke(arguments)
        except Exception as error:
            return _words(error)
        return [{k: v for k, v in block.items() if k != "id"} for block in found] if isinstance(found, list) else found

    return [sorted(tools), *await _calls(call, script)]


async def openai_agents(target: str, script: list[list[Any]]) -> list[Any]:
    from agents.mcp import MCPServerStdio, MCPServerStreamableHttp

    http = target.startswith("http")
    patience: dict[str, Any] = {"client_session_timeout_seconds": 120}  # its own are 5: too few on a busy machine
    server = (
        MCPServerStreamableHttp({"url": target}, **patience)
        if http
        else MCPServerStdio({"command": target}, **patience)
    )
    async with server:
        tools = [tool.name for tool in await server.list_tools()]

        async def call(name: str, arguments: dict[str, Any]) -> Any:
            try:
                return (await server.call_tool(name, arguments)).model_dump(mode="json", exclude_none=True)
            except Exception as error:
                return re.sub(r"'(stdio|streamable_http): [^']*'", "'the server'", str(error))

        return [tools, *await _calls(call, script)]


async def pydantic_ai(target: str, script: list[list[Any]]) -> list[Any]:
    from fastmcp.client.transports import StdioTransport
    from pydantic_ai.mcp import MCPToolset

    server = MCPToolset(
        target if target.startswith("http") else StdioTransport(command=target, args=[], keep_alive=False), id="own"
    )
    async with server:
        tools = [tool.name for tool in await server.list_tools()]

        async def call(name: str, arguments: dict[str, Any]) -> Any:
            try:
                return repr(await server.direct_call_tool(name, arguments))
            except Exception as error:
                return str(error)

        return [tools, *await _calls(call, script)]


async def fastmcp(target: str, script: list[list[Any]]) -> list[Any]:
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport

    transport = target if target.startswith("http") else StdioTransport(command=target, args=[], keep_alive=False)
    async with Client(transport) as client:
        tools = [tool.name for tool in await client.list_tools()]

        async def call(name: str, arguments: dict[str, Any]) -> Any:
            try:
                found = await client.call_tool(name, arguments, raise_on_error=False)
            except Exception as error:
                return str(error)
            return [block.model_dump(mode="json", exclude_none=True) for block in found.content]

        return [tools, *await _calls(call, script)]


async def _calls(call: Any, script: list[list[Any]]) -> list[Any]:
    out: list[Any] = []
    for name, *args in script:
        if name == "call":
            out.append(await call(*args))
        elif name == "parallel":
            out.append(await asyncio.gather(*(call(*each) for each in args[0])))
    return out


FRAMEWORKS = {"langchain": langchain, "openai-agents": openai_agents, "pydantic-ai": pydantic_ai, "fastmcp": fastmcp}
serve(FRAMEWORKS[sys.argv[1]])
