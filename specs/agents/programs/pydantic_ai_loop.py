"""An agent made with Pydantic AI, on Gemini."""

import os

from pydantic_ai import Agent
from shell import run_command

agent = Agent("google:gemini-2.5-pro", instructions="You look into files.", tools=[run_command])
print(agent.run_sync(os.environ["FLOWPROOF_PROMPT"]).output)
