"""An agent made with LangChain's `create_agent`, which runs on LangGraph."""

import os

from langchain.agents import create_agent
from langchain_openai import ChatOpenAI
from shell import run_command

agent = create_agent(ChatOpenAI(model="gpt-5"), [run_command], system_prompt="You look into files.")
answer = agent.invoke({"messages": [{"role": "user", "content": os.environ["FLOWPROOF_PROMPT"]}]})
print(answer["messages"][-1].text)
