"""A flight booking agent on the official OpenAI SDK, Responses; `STREAM=1` streams."""

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
    tools: list[Any] = [
        {"type": "function", "name": name, "parameters": {"type": "object", "properties": properties}, "strict": False}
        for name, properties in PARAMETERS.items()
    ]
    items: list[Any] = [{"role": "user", "content": os.environ["FLOWPROOF_PROMPT"]}]
    while True:
        asked: dict[str, Any] = {
            "model": "gpt-5-mini",
            "instructions": "You book flights.",
            "input": items,
            "tools": tools,
        }
        if os.environ.get("STREAM"):
            with client.responses.stream(**asked) as stream:
                response = stream.get_final_response()
        else:
            response = client.responses.create(**asked)
        calls = [item for item in response.output if item.type == "function_call"]
        if not calls:
            print(response.output_text)
            return
        items += [item.model_dump(exclude_none=True, exclude={"parsed_arguments"}) for item in response.output]
        for call in calls:
            result = carry_out(call.name, json.loads(call.arguments or "{}"))
            items.append({"type": "function_call_output", "call_id": call.call_id, "output": json.dumps(result)})


if __name__ == "__main__":
    main()
