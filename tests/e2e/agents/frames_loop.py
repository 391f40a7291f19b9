"""A tool loop on the openai SDK that prints every chunk as it came, and hands arguments back as they came."""

import os
from typing import Any

import openai

CITY = {"type": "object", "properties": {"city": {"type": "string"}}}
TOOLS: list[Any] = [
    {"type": "function", "function": {"name": name, "parameters": CITY}} for name in ("get_weather", "get_time")
]
client = openai.OpenAI(timeout=20)
messages: list[Any] = [{"role": "user", "content": os.environ["FLOWPROOF_PROMPT"]}]
while True:
    calls: dict[int, Any] = {}
    for chunk in client.chat.completions.create(model="m", messages=messages, tools=TOOLS, stream=True):
        print(chunk.model_dump_json())
        for delta in (chunk.choices[0].delta.tool_calls or []) if chunk.choices else []:
            function = calls.setdefault(
                delta.index, {"id": delta.id, "type": "function", "function": {"arguments": ""}}
            )
            assert delta.function is not None
            function["function"].setdefault("name", delta.function.name)
            function["function"]["arguments"] += delta.function.arguments or ""
    if not calls:
        break
    messages.append({"role": "assistant", "content": None, "tool_calls": list(calls.values())})
    messages += [{"role": "tool", "tool_call_id": call["id"], "content": "done"} for call in calls.values()]
