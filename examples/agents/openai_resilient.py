"""A flight booking agent for a flaky model: the SDK repeats what was refused, the agent a stream that broke off."""

import json
import os
from typing import Any

import httpx
from openai import APIError, OpenAI

PARAMETERS = {
    "search_flights": {"destination": {"type": "string"}},
    "create_booking": {"flight": {"type": "object"}, "passengers": {"type": "array", "items": {"type": "object"}}},
}
TRIES = 3


def carry_out(name: str, arguments: dict[str, object]) -> object:
    if name == "search_flights":
        return {"flights": [{"id": "KQ311", "dest": arguments["destination"]}]}
    return {"booking": "B-1"}


def answer(client: OpenAI, asked: dict[str, Any]) -> Any:
    """One whole answer; a stream that breaks off is asked for again, nothing of it is kept."""
    for left in reversed(range(TRIES)):
        try:
            with client.chat.completions.stream(**asked) as stream:
                return stream.get_final_completion().choices[0].message
        except (APIError, httpx.TransportError, AssertionError):
            if not left:
                raise
    raise AssertionError("unreachable")


def main() -> None:
    client = OpenAI(max_retries=2)
    messages: list[Any] = [{"role": "system", "content": "You book flights."}]
    messages.append({"role": "user", "content": os.environ["FLOWPROOF_PROMPT"]})
    tools: list[Any] = [
        {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": properties}}}
        for name, properties in PARAMETERS.items()
    ]
    while True:
        message = answer(client, {"model": "gpt-5-mini", "messages": messages, "tools": tools})
        if not message.tool_calls:
            print(message.content)
            return
        messages.append(message.model_dump(include={"role", "content", "tool_calls"}, exclude_none=True))
        for call in message.tool_calls:
            result = carry_out(call.function.name, json.loads(call.function.arguments or "{}"))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": json.dumps(result)})


if __name__ == "__main__":
    main()
