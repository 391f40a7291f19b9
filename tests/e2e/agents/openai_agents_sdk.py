"""OpenAI's agents framework: `openai_agents_sdk.py [responses|chat|stream]`."""

from __future__ import annotations

import asyncio
import os
import sys

from agents import Agent, ModelSettings, Runner, function_tool, set_default_openai_api

MODE = sys.argv[1] if len(sys.argv) > 1 else "responses"


@function_tool(description_override=os.environ.get("AGENT_DESCRIPTION", "Tell the weather in a city."))
async def get_weather(city: str) -> str:
    return f"31 degrees in {city}"


@function_tool
async def get_time(city: str) -> str:
    """Tell the time."""
    return f"noon in {city}"


async def main() -> None:
    if MODE == "chat":
        set_default_openai_api("chat_completions")
    agent = Agent(
        name="terse",
        model="brain-1",
        instructions=os.environ.get("AGENT_SYSTEM", "You are terse."),
        model_settings=ModelSettings(temperature=float(os.environ.get("AGENT_TEMPERATURE", "0.2"))),
        tools=[get_weather, get_time],
    )
    prompt = os.environ["FLOWPROOF_PROMPT"]
    if MODE == "stream":
        streamed = Runner.run_streamed(agent, prompt)
        async for _ in streamed.stream_events():
            pass
        responses, final = streamed.raw_responses, streamed.final_output
    else:
        result = await Runner.run(agent, prompt)
        responses, final = result.raw_responses, result.final_output
    for response in responses:
        print(response.response_id, response.usage.total_tokens, [item.model_dump() for item in response.output])
    print(final)


asyncio.run(main())
