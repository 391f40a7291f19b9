"""The same program on the last 1.x Python SDK."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

import mcp.types as types
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client
from serving import serve


def plain(value: Any) -> Any:
    return value.model_dump(mode="json", by_alias=True, exclude_none=True)


@dataclass
class Program:
    """One session: what the server asked and told meanwhile, in no order."""

    seen: list[Any] = field(default_factory=list)

    async def sampling(self, context: Any, params: Any) -> types.CreateMessageResult:
        self.seen.append(["sampling", params.messages[0].content.text])
        return types.CreateMessageResult(
            role="assistant", content=types.TextContent(type="text", text="sampled"), model="stand-in"
        )

    async def elicitation(self, context: Any, params: Any) -> types.ElicitResult:
        self.seen.append(["elicitation", params.message])
        return types.ElicitResult(action="accept", content={"name": "Ada", "check": True})

    async def roots(self, context: Any) -> types.ListRootsResult:
        self.seen.append(["roots"])
        return types.ListRootsResult(roots=[types.Root(uri="file:///tmp/project", name="project")])

    async def logged(self, params: Any) -> None:
        self.seen.append(["log", params.level, params.data])

    async def run(self, target: str, script: list[list[Any]]) -> Any:
        if target.startswith("http"):
            async with streamablehttp_client(target) as (read, write, _):
                return await self.session(read, write, script)
        async with stdio_client(StdioServerParameters(command=target)) as (read, write):
            return await self.session(read, write, script)

    async def session(self, read: Any, write: Any, script: list[list[Any]]) -> Any:
        out: list[Any] = []
        async with ClientSession(
            read,
            write,
            sampling_callback=self.sampling,
            elicitation_callback=self.elicitation,
            list_roots_callback=self.roots,
            logging_callback=self.logged,
        ) as client:
            await client.initialize()
            for name, *args in script:
                try:
                    out.append(await step(client, name, *args))
                except Exception as error:
                    out.append(f"{type(error).__name__}: {error}")
        return {"out": out, "seen": sorted(self.seen, key=str)}


async def step(client: ClientSession, name: str, *args: Any) -> Any:
    match name:
        case "call":
            return plain(await client.call_tool(args[0], args[1]))
        case "parallel":
            return await asyncio.gather(*(step(client, "call", *call) for call in args[0]))
        case "progress":
            steps: list[Any] = []

            async def progress(done: float, total: float | None, words: str | None) -> None:
                steps.append([done, total, words])

            return [plain(await client.call_tool(args[0], args[1], progress_callback=progress)), steps]
        case "cancel":
            try:
                async with asyncio.timeout(args[2]):
                    return plain(await client.call_tool(args[0], args[1]))
            except TimeoutError:
                return "cancelled"
        case "tools":
            return [tool.name for tool in (await client.list_tools()).tools]
        case "resources":
            return [str(resource.uri) for resource in (await client.list_resources()).resources]
        case "prompts":
            return [prompt.name for prompt in (await client.list_prompts()).prompts]
        case "read":
            return plain(await client.read_resource(args[0]))
        case "prompt":
            return plain(await client.get_prompt(args[0], args[1]))
    raise ValueError(name)


serve(lambda target, script: Program().run(target, script))
