"""An agent made with LlamaIndex, whose parallel tools answer in any order."""

import asyncio
import os

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.llms.openai import OpenAI
from shell import run_command


async def main() -> None:
    """Ask and print."""
    agent = FunctionAgent(tools=[run_command], llm=OpenAI(model="gpt-4o"), system_prompt="You look into files.")
    print(await agent.run(os.environ["FLOWPROOF_PROMPT"]))


asyncio.run(main())
