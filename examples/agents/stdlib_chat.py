"""A travel agent that goes on: one conversation, a user turn from its environment, every further one from stdin."""

import json
import os
import sys
import urllib.request
from collections.abc import Callable, Iterator


def search_flights(destination: str) -> object:
    return {"flights": [{"id": "KQ311", "dest": destination}]}


def create_booking(flight: dict[str, str], passengers: list[dict[str, str]]) -> object:
    return {"booking": f"B-{flight['id']}", "passengers": len(passengers)}


TOOLS: dict[str, Callable[..., object]] = {"search_flights": search_flights, "create_booking": create_booking}
OFFERED = [{"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in TOOLS]


def ask(messages: list[dict[str, object]]) -> dict[str, object]:
    body = json.dumps({"model": "gpt-5-mini", "messages": messages, "tools": OFFERED}).encode()
    headers = {"content-type": "application/json", "authorization": f"Bearer {os.environ['OPENAI_API_KEY']}"}
    url = f"{os.environ['OPENAI_BASE_URL']}/chat/completions"
    with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as reply:
        message: dict[str, object] = json.load(reply)["choices"][0]["message"]
    return message


def answer(messages: list[dict[str, object]]) -> str:
    """Go on until the model asks for nothing more."""
    while True:
        message = ask(messages)
        messages.append(message)
        calls = message.get("tool_calls")
        if not isinstance(calls, list):
            return str(message["content"])
        for call in calls:
            result = TOOLS[call["function"]["name"]](**json.loads(call["function"]["arguments"] or "{}"))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": json.dumps(result)})


def said() -> Iterator[str]:
    """What the user says: docs/conversations.md."""
    yield os.environ["FLOWPROOF_PROMPT"]
    for line in sys.stdin:
        yield json.loads(line)["text"]


def main() -> None:
    messages: list[dict[str, object]] = [{"role": "system", "content": "You book flights, when you are asked to."}]
    for text in said():
        messages.append({"role": "user", "content": text})
        print(answer(messages), flush=True)


if __name__ == "__main__":
    main()
