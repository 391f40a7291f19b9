"""LangChain on LangGraph: `langgraph_agent.py [openai|responses|anthropic] [stream]`."""

from __future__ import annotations

import os
import sys
from typing import Any

from langchain.agents import create_agent
from langchain_core.tools import StructuredTool

SYSTEM = os.environ.get("AGENT_SYSTEM", "You are terse.")
TEMPERATURE = float(os.environ.get("AGENT_TEMPERATURE", "0.2"))


def weather(city: str) -> str:
    return f"31 degrees in {city}"


def time(city: str) -> str:
    return f"noon in {city}"


def model() -> Any:
    if sys.argv[1] == "anthropic":
        from langchain_anthropic import ChatAnthropic

        return ChatAnthropic(model_name="brain-1", temperature=TEMPERATURE, timeout=20, stop=None)
    from langchain_openai import ChatOpenAI

    return ChatOpenAI(model="brain-1", temperature=TEMPERATURE, use_responses_api=sys.argv[1] == "responses")


def main() -> None:
    described = os.environ.get("AGENT_DESCRIPTION", "Tell the weather in a city.")
    tools = [
        StructuredTool.from_function(weather, name="get_weather", description=described),
        StructuredTool.from_function(time, name="get_time", description="Tell the time."),
    ]
    agent: Any = create_agent(model(), tools, system_prompt=SYSTEM)
    question = {"messages": [{"role": "user", "content": os.environ["FLOWPROOF_PROMPT"]}]}
    if "stream" in sys.argv:
        for message, _ in agent.stream(question, stream_mode="messages"):
            if message.type != "tool":  # results of parallel calls come as their threads end
                print(message.type, message.content, getattr(message, "usage_metadata", None))
        return
    for message in agent.invoke(question)["messages"]:
        print(message.type, message.content, getattr(message, "response_metadata", None))


main()
