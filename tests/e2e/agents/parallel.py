"""Runs parallel tools and tells what ended when in `list`, a list of its own, in `text`, or not at all (`calls`)."""

import json
import os
import sys
import urllib.request
from typing import Any

TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}
    for name in ("get_weather", "get_time")
]
RESULTS = {"get_weather": "31 degrees", "get_time": "noon"}


def ask(messages: list[dict[str, object]], **more: object) -> Any:
    body = {"model": "brain-1", "tools": TOOLS, "messages": messages, **more}
    address = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    request = urllib.request.Request(address, json.dumps(body).encode(), {"content-type": "application/json"})
    return json.load(urllib.request.urlopen(request, timeout=20))["choices"][0]["message"]


messages: list[dict[str, object]] = [{"role": "user", "content": os.environ["FLOWPROOF_PROMPT"]}]
message = ask(messages)
calls = message["tool_calls"]
messages.append({"role": "assistant", "tool_calls": message["tool_calls"]})
told = [
    {"role": "tool", "tool_call_id": call["id"], "content": RESULTS[call["function"]["name"]]}
    for call in sorted(calls, key=lambda call: call["function"]["name"])
]
match sys.argv[1]:
    case "list":
        print(ask([*messages, *told], metadata={"ended": [call["id"] for call in calls]}))
    case "text":
        ended = "; ".join(RESULTS[call["function"]["name"]] for call in calls)
        print(ask([*messages, *told, {"role": "user", "content": f"both told: {ended}"}]))
    case _:
        results = {str(result["tool_call_id"]): result for result in told}
        print(ask([*messages, *(results[call["id"]] for call in calls)]))
