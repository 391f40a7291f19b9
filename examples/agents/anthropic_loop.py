"""A flight booking agent on the official Anthropic SDK; `STREAM=1` streams."""

import json
import os
from typing import Any

from anthropic import Anthropic

PARAMETERS = {
    "search_flights": {"destination": {"type": "string"}},
    "create_booking": {"flight": {"type": "object"}, "passengers": {"type": "array", "items": {"type": "object"}}},
}


def carry_out(name: str, arguments: dict[str, object]) -> object:
    if name == "search_flights":
        return {"flights": [{"id": "KQ311", "dest": arguments["destination"]}]}
    return {"booking": "B-1"}


def main() -> None:
    client = Anthropic()
    messages: list[Any] = [{"role": "user", "content": os.environ["FLOWPROOF_PROMPT"]}]
    tools: list[Any] = [
        {"name": name, "input_schema": {"type": "object", "properties": properties}}
        for name, properties in PARAMETERS.items()
    ]
    while True:
        asked: dict[str, Any] = {"model": "claude-sonnet-5", "max_tokens": 1000, "system": "You book flights."}
        asked |= {"messages": messages, "tools": tools}
        if os.environ.get("STREAM"):
            with client.messages.stream(**asked) as stream:
                message = stream.get_final_message()
        else:
            message = client.messages.create(**asked)
        messages.append({"role": "assistant", "content": [block.to_dict() for block in message.content]})
        calls = [block for block in message.content if block.type == "tool_use"]
        if not calls:
            print("".join(block.text for block in message.content if block.type == "text"))
            return
        results = [
            {"type": "tool_result", "tool_use_id": call.id, "content": json.dumps(carry_out(call.name, call.input))}
            for call in calls
        ]
        messages.append({"role": "user", "content": results})


if __name__ == "__main__":
    main()
