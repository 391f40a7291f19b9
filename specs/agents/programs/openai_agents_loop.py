"""An agent made with the OpenAI Agents SDK."""

import os

from agents import Agent, Runner, function_tool
from shell import run_command

agent = Agent(name="notes", instructions="You look into files.", model="gpt-5", tools=[function_tool(run_command)])
print(Runner.run_sync(agent, os.environ["FLOWPROOF_PROMPT"]).final_output)
