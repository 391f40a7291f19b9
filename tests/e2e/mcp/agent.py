"""An agent whose tools are an MCP server's: official SDKs at both of its ends. `agent.py SERVER [KEY=VALUE…]`

SERVER is a URL or an executable. KEY=VALUE overrides an argument of every call, as a bug in the agent would.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

import openai
from mcp import StdioServerParameters
from mcp.client import Client

TARGET, *OVERRIDES = sys.argv[1:]


async def main() -> None:
    server = TARGET if TARGET.startswith("http") else StdioServerParameters(command=TARGET)
    model = openai.AsyncOpenAI(timeout=30)
    async with Client(server) as client:
        listed = (await client.list_tools()).tools
        tools: list[Any] = [
            {"type": "function", "function": {"name": tool.name, "parameters": tool.input_schema}} for tool in listed
        ]

        async def call(asked: Any) -> dict[str, Any]:
            arguments = json.loads(asked.function.arguments) | dict(each.split("=", 1) for each in OVERRIDES)
            found = await client.call_tool(asked.function.name, arguments)
            text = " ".join(block.text for block in found.content if block.type == "text")
            return {"role": "tool", "tool_call_id": asked.id, "content": text}

        messages: list[Any] = [{"role": "user", "content": os.environ["FLOWPROOF_PROMPT"]}]
        while True:
            answer = (await model.chat.completions.create(model="brain-1", messages=messages, tools=tools)).choices[0]
            messages.append(answer.message.model_dump(exclude_none=True))
            if not answer.message.tool_calls:
                print(answer.message.content)
                return
            messages += await asyncio.gather(*(call(asked) for asked in answer.message.tool_calls))


asyncio.run(main())
