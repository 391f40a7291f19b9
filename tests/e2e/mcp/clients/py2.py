"""A client program on the 2.x Python SDK: runs a script of steps against one server, prints what came back."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import mcp_types as types
from mcp import StdioServerParameters
from mcp.client import Client

seen: list[Any] = []


def plain(value: Any) -> Any:
    return value.model_dump(mode="json", by_alias=True, exclude_none=True)


async def sampling(context: Any, params: Any) -> types.CreateMessageResult:
    seen.append(["sampling", params.messages[0].content.text])
    return types.CreateMessageResult(
        role="assistant", content=types.TextContent(type="text", text="sampled"), model="stand-in"
    )


async def elicitation(context: Any, params: Any) -> types.ElicitResult:
    seen.append(["elicitation", params.message])
    return types.ElicitResult(action="accept", content={"name": "Ada", "check": True})


async def roots(context: Any) -> types.ListRootsResult:
    seen.append(["roots"])
    return types.ListRootsResult(roots=[types.Root(uri="file:///tmp/project", name="project")])


async def logged(params: Any) -> None:
    seen.append(["log", params.level, params.data])


async def message(item: Any) -> None:
    method = getattr(item, "method", None)
    if method and "list_changed" in method:
        seen.append(["changed", method])


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
        case "pause":
            return await asyncio.sleep(args[0])
    raise ValueError(name)


async def main(target: str, mode: str, script: list[list[Any]]) -> None:
    server = target if target.startswith("http") else StdioServerParameters(command=target)
    client = Client(
        server,
        mode=mode,
        sampling_callback=sampling,
        elicitation_callback=elicitation,
        list_roots_callback=roots,
        logging_callback=logged,
        message_handler=message,
    )
    out: list[Any] = []
    async with client:
        for name, *args in script:
            try:
                out.append(await step(client, name, *args))
            except Exception as error:
                out.append(f"{type(error).__name__}: {error}")
    print(json.dumps({"out": out, "seen": sorted(seen, key=str)}))


asyncio.run(main(sys.argv[1], sys.argv[2], json.loads(sys.argv[3])))
