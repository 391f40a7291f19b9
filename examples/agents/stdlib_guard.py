"""An agent whose own code refuses a tool: the model may ask for `transfer_funds`, it is never carried out."""

import json
import os
import urllib.request

FORBIDDEN = {"transfer_funds"}
OFFERED = [
    {"type": "function", "function": {"name": "get_balance", "parameters": {"type": "object", "properties": {}}}},
    {
        "type": "function",
        "function": {
            "name": "transfer_funds",
            "parameters": {
                "type": "object",
                "properties": {"to": {"type": "string"}, "amount": {"type": "number"}},
                "required": ["to", "amount"],
            },
        },
    },
]


def carry_out(name: str) -> object:
    if name in FORBIDDEN:
        return {"error": f"{name} is not allowed"}
    return {"balance": 120}


def ask(messages: list[dict[str, object]]) -> dict[str, object]:
    body = json.dumps({"model": "gpt-5-mini", "messages": messages, "tools": OFFERED}).encode()
    headers = {"content-type": "application/json", "authorization": f"Bearer {os.environ['OPENAI_API_KEY']}"}
    url = f"{os.environ['OPENAI_BASE_URL']}/chat/completions"
    with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as reply:
        message: dict[str, object] = json.load(reply)["choices"][0]["message"]
    return message


def main() -> None:
    messages: list[dict[str, object]] = [{"role": "user", "content": os.environ["FLOWPROOF_PROMPT"]}]
    while True:
        message = ask(messages)
        messages.append(message)
        calls = message.get("tool_calls")
        if not isinstance(calls, list):
            print(message["content"])
            return
        for call in calls:
            result = carry_out(call["function"]["name"])
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": json.dumps(result)})


if __name__ == "__main__":
    main()
