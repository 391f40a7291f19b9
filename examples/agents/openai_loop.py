"""A flight booking agent on the official OpenAI SDK, Chat Completions; `STREAM=1` streams."""

import json
import os
from typing import Any

from openai import OpenAI

PARAMETERS = {
    "search_flights": {"destination": {"type": "string"}},
    "create_booking": {"flight": {"type": "object"}, "passengers": {"type": "array", "items": {"type": "object"}}},
}


def carry_out(name: str, arguments: dict[str, object]) -> object:
    if name == "search_flights":
        return {"flights": [{"id": "KQ311", "dest": arguments["destination"]}]}
    return {"booking": "B-1"}


def main() -> None:
    client = OpenAI()
    messages: list[Any] = [{"role": "system", "content": "You book flights."}]
    messages.append({"role": "user", "content": os.environ["FLOWPROOF_PROMPT"]})
    tools: list[Any] = [
        {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": properties}}}
        for name, properties in PARAMETERS.items()
    ]
    while True:
        asked: dict[str, Any] = {"model": "gpt-5-mini", "messages": messages, "tools": tools}
        if os.environ.get("STREAM"):
            with client.chat.completions.stream(**asked) as stream:
                message = stream.get_final_completion().choices[0].message
        else:
            message = client.chat.completions.create(**asked).choices[0].message
        if not message.tool_calls:
            print(message.content)
            return
        messages.append(message.model_dump(include={"role", "content", "tool_calls"}, exclude_none=True))
        for call in message.tool_calls:
            result = carry_out(call.function.name, json.loads(call.function.arguments or "{}"))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": json.dumps(result)})


if __name__ == "__main__":
    main()
