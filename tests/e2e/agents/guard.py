"""An agent whose code refuses what the model asks for."""

import os
from typing import Any

import openai

client = openai.OpenAI(timeout=20)
tools: list[Any] = [{"type": "function", "function": {"name": "export", "parameters": {"type": "object"}}}]
messages: list[Any] = [{"role": "user", "content": os.environ["FLOWPROOF_PROMPT"]}]
while (
    calls := (answer := client.chat.completions.create(model="m", messages=messages, tools=tools))
    .choices[0]
    .message.tool_calls
):
    messages.append(answer.choices[0].message.model_dump(exclude_none=True))
    messages += [{"role": "tool", "tool_call_id": call.id, "content": "refused: read only"} for call in calls]
