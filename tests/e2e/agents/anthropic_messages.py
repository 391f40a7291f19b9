"""The official anthropic SDK: `anthropic_messages.py [sync|async|stream|async-stream]`."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

import anthropic

SYSTEM = os.environ.get("AGENT_SYSTEM", "You are terse.")
TEMPERATURE = float(os.environ.get("AGENT_TEMPERATURE", "0.2"))
DESCRIPTION = os.environ.get("AGENT_DESCRIPTION", "Tell the weather in a city.")
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
ASK: dict[str, Any] = {
    "model": "brain-1",
    "max_tokens": 500,
    "system": SYSTEM,
    # the SDK's own parameter has come and gone between versions; the wire's has not
    "extra_body": {"temperature": TEMPERATURE},
    "tools": [
        {"name": "get_weather", "description": DESCRIPTION, "input_schema": CITY},
        {"name": "get_time", "description": "Tell the time.", "input_schema": CITY},
    ],
    "timeout": 20,
}
RESULTS = {"get_weather": "31 degrees", "get_time": "noon"}


def once(messages: list[Any]) -> Any:
    return anthropic.Anthropic().messages.create(messages=messages, **ASK)


def streamed(messages: list[Any]) -> Any:
    with anthropic.Anthropic().messages.stream(messages=messages, **ASK) as events:
        return events.get_final_message()


async def once_async(messages: list[Any]) -> Any:
    async with anthropic.AsyncAnthropic() as client:
        return await client.messages.create(messages=messages, **ASK)


async def streamed_async(messages: list[Any]) -> Any:
    async with anthropic.AsyncAnthropic() as client, client.messages.stream(messages=messages, **ASK) as events:
        return await events.get_final_message()


CREATE = {
    "sync": once,
    "stream": streamed,
    "async": lambda messages: asyncio.run(once_async(messages)),
    "async-stream": lambda messages: asyncio.run(streamed_async(messages)),
}[sys.argv[1] if len(sys.argv) > 1 else "sync"]


def main() -> None:
    messages: list[Any] = [{"role": "user", "content": os.environ["FLOWPROOF_PROMPT"]}]
    while True:
        message = CREATE(messages)
        print(message.model_dump_json())
        calls = [block for block in message.content if block.type == "tool_use"]
        if not calls:
            return
        messages.append({"role": "assistant", "content": [b.model_dump(exclude_none=True) for b in message.content]})
        results = [
            {"type": "tool_result", "tool_use_id": c.id, "content": f"{RESULTS[c.name]} in {c.input['city']}"}
            for c in calls
        ]
        messages.append({"role": "user", "content": results})


main()
