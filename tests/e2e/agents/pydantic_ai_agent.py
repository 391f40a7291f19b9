"""pydantic-ai: `pydantic_ai_agent.py [openai-chat|openai-responses|anthropic] [stream]`."""

from __future__ import annotations

import asyncio
import os
import sys

from pydantic_ai import Agent, Tool
from pydantic_ai.settings import ModelSettings


async def get_weather(city: str) -> str:
    return f"31 degrees in {city}"


async def get_time(city: str) -> str:
    """Tell the time."""
    return f"noon in {city}"


AGENT = Agent(
    f"{sys.argv[1]}:brain-1",
    instructions=os.environ.get("AGENT_SYSTEM", "You are terse."),
    model_settings=ModelSettings(temperature=float(os.environ.get("AGENT_TEMPERATURE", "0.2"))),
    tools=[
        Tool(get_weather, description=os.environ.get("AGENT_DESCRIPTION", "Tell the weather in a city.")),
        get_time,
    ],
)


async def main() -> None:
    prompt = os.environ["FLOWPROOF_PROMPT"]
    if "stream" in sys.argv:
        async with AGENT.run_stream(prompt) as streamed:
            text = await streamed.get_output()
            messages, usage = streamed.all_messages(), streamed.usage
    else:
        result = await AGENT.run(prompt)
        text, messages, usage = result.output, result.all_messages(), result.usage
    for message in messages:
        if message.kind == "response":
            print(message.provider_response_id, message.usage, [part.part_kind for part in message.parts])
    print(usage, text)


asyncio.run(main())
