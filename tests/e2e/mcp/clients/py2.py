"""A client program on the 2.x Python SDK: runs scripts of steps, each against one server, and says what came back.

`py2.py auto|legacy`
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass, field
from typing import Any

import mcp_types as types
from mcp import StdioServerParameters
from mcp.client import Client
from serving import serve

MODE = sys.argv[1]


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

    async def message(self, item: Any) -> None:
        method = getattr(item, "method", None)
        if method and "list_changed" in method:
            self.seen.append(["changed", method])

    async def run(self, target: str, script: list[list[Any]]) -> Any:
        client = Client(
            target if target.startswith("http") else StdioServerParameters(command=target),
            mode=MODE,
            sampling_callback=self.sampling,
            elicitation_callback=self.elicitation,
            list_roots_callback=self.roots,
            logging_callback=self.logged,
            message_handler=self.message,
        )
        out: list[Any] = []
        async with client:
            for name, *args in script:
                try:
                    out.append(await step(client, name, *args))
                except Exception as error:
                    out.append(f"{type(error).__name__}: {error}")
        return {"out": out, "seen": sorted(self.seen, key=str)}


async def step(client: Client, name: str, *args: Any) -> Any:
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
        case "listen":
            heard: list[Any] = []
            async with client.listen(tools_list_changed=True, resource_subscriptions=["note://x"]) as changes:
                made = [await step(client, "call", *call) for call in args[0]]
                async for change in changes:
                    heard.append(type(change).__name__)
                    if len(heard) == len(args[0]):
                        break
            return [made, heard, await step(client, "tools")]
    raise ValueError(name)


serve(lambda target, script: Program().run(target, script))
