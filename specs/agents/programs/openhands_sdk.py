"""An agent made with the OpenHands SDK."""

import os

from openhands.sdk import LLM, Agent, Conversation, Tool
from openhands.tools.terminal import TerminalTool

llm = LLM(model="openai/standin-1", base_url=os.environ["OPENAI_BASE_URL"], usage_id="agent", num_retries=0)
agent = Agent(llm=llm, tools=[Tool(name=TerminalTool.name)])
conversation = Conversation(agent=agent, workspace=os.getcwd())
conversation.send_message(os.environ["FLOWPROOF_PROMPT"])
conversation.run()
