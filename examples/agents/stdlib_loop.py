"""A flight booking agent with nothing but the standard library: Chat Completions over urllib, two tools, one loop."""

import json
import os
import urllib.request
from collections.abc import Callable


def search_flights(destination: str) -> object:
    return {"flights": [{"id": "KQ311", "dest": destination}]}


def create_booking(flight: dict[str, str], passengers: list[dict[str, str]]) -> object:
    return {"booking": f"B-{flight['id']}", "passengers": len(passengers)}


TOOLS: dict[str, Callable[..., object]] = {"search_flights": search_flights, "create_booking": create_booking}


def parameters(**properties: str) -> dict[str, object]:
    shown = {name: {"type": kind} for name, kind in properties.items()}
    return {"type": "object", "properties": shown, "required": list(properties)}


OFFERED = [
    {"type": "function", "function": {"name": "search_flights", "parameters": parameters(destination="string")}},
    {
        "type": "function",
        "function": {"name": "create_booking", "parameters": parameters(flight="object", passengers="array")},
    },
]


def ask(messages: list[dict[str, object]]) -> dict[str, object]:
    body = json.dumps({"model": "gpt-5-mini", "messages": messages, "tools": OFFERED}).encode()
    headers = {"content-type": "application/json", "authorization": f"Bearer {os.environ['OPENAI_API_KEY']}"}
    url = f"{os.environ['OPENAI_BASE_URL']}/chat/completions"
    with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as reply:
        message: dict[str, object] = json.load(reply)["choices"][0]["message"]
    return message


def main() -> None:
    messages: list[dict[str, object]] = [
        {"role": "system", "content": "You book flights."},
        {"role": "user", "content": os.environ["FLOWPROOF_PROMPT"]},
    ]
    while True:
        message = ask(messages)
        messages.append(message)
        calls = message.get("tool_calls")
        if not isinstance(calls, list):
            print(message["content"])
            return
        for call in calls:
            result = TOOLS[call["function"]["name"]](**json.loads(call["function"]["arguments"] or "{}"))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": json.dumps(result)})


if __name__ == "__main__":
    main()
