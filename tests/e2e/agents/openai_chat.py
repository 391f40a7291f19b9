"""The official openai SDK on Chat Completions: `openai_chat.py [sync|async|stream|async-stream]`."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

import openai

SYSTEM = os.environ.get("AGENT_SYSTEM", "You are terse.")
TEMPERATURE = float(os.environ.get("AGENT_TEMPERATURE", "0.2"))
DESCRIPTION = os.environ.get("AGENT_DESCRIPTION", "Tell the weather in a city.")
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS: list[Any] = [
    {"type": "function", "function": {"name": "get_weather", "description": DESCRIPTION, "parameters": CITY}},
    {"type": "function", "function": {"name": "get_time", "description": "Tell the time.", "parameters": CITY}},
]
ASK: dict[str, Any] = {"model": "brain-1", "temperature": TEMPERATURE, "tools": TOOLS, "timeout": 20}
RESULTS = {"get_weather": "31 degrees", "get_time": "noon"}


def once(messages: list[Any]) -> Any:
    return openai.OpenAI().chat.completions.create(messages=messages, **ASK)


def streamed(messages: list[Any]) -> Any:
    with openai.OpenAI().chat.completions.stream(
        messages=messages, stream_options={"include_usage": True}, **ASK
    ) as chunks:
        for _ in chunks:
            pass
        return chunks.get_final_completion()


async def once_async(messages: list[Any]) -> Any:
    async with openai.AsyncOpenAI() as client:
        return await client.chat.completions.create(messages=messages, **ASK)


async def streamed_async(messages: list[Any]) -> Any:
    async with (
        openai.AsyncOpenAI() as client,
        client.chat.completions.stream(messages=messages, stream_options={"include_usage": True}, **ASK) as chunks,
    ):
        async for _ in chunks:
            pass
        return await chunks.get_final_completion()


CREATE = {
    "sync": once,
    "stream": streamed,
    "async": lambda messages: asyncio.run(once_async(messages)),
    "async-stream": lambda messages: asyncio.run(streamed_async(messages)),
}[sys.argv[1] if len(sys.argv) > 1 else "sync"]


def main() -> None:
    messages: list[Any] = [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": os.environ["FLOWPROOF_PROMPT"]},
    ]
    while True:
        completion = CREATE(messages)
        print(completion.model_dump_json())
        message = completion.choices[0].message
        if not message.tool_calls:
            return
        calls = [
            {"id": c.id, "type": "function", "function": {"name": c.function.name, "arguments": c.function.arguments}}
            for c in message.tool_calls
        ]
        messages.append({"role": "assistant", "content": message.content, "tool_calls": calls})
        for call in message.tool_calls:
            result = f"{RESULTS[call.function.name]} in {json.loads(call.function.arguments)['city']}"
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


main()
