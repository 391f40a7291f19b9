"""The official openai SDK on Responses: `openai_responses.py [sync|async|stream|continued|socket]`.

`socket`: over a WebSocket, where one is to be had; else as `continued`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from typing import Any

import openai
import websockets

SYSTEM = os.environ.get("AGENT_SYSTEM", "You are terse.")
TEMPERATURE = float(os.environ.get("AGENT_TEMPERATURE", "0.2"))
DESCRIPTION = os.environ.get("AGENT_DESCRIPTION", "Tell the weather in a city.")
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS: list[Any] = [
    {"type": "function", "name": "get_weather", "description": DESCRIPTION, "parameters": CITY},
    {"type": "function", "name": "get_time", "description": "Tell the time.", "parameters": CITY},
]
ASK: dict[str, Any] = {
    "model": "brain-1",
    "instructions": SYSTEM,
    "temperature": TEMPERATURE,
    "tools": TOOLS,
    "timeout": 20,
}
RESULTS = {"get_weather": "31 degrees", "get_time": "noon"}


def once(**ask: Any) -> Any:
    return openai.OpenAI().responses.create(**ask)


def streamed(**ask: Any) -> Any:
    with openai.OpenAI().responses.stream(**ask) as events:
        for _ in events:
            pass
        return events.get_final_response()


async def once_async(**ask: Any) -> Any:
    async with openai.AsyncOpenAI() as client:
        return await client.responses.create(**ask)


MODE = sys.argv[1] if len(sys.argv) > 1 else "sync"


class Socket:
    """One WebSocket for all turns. What comes is printed as it came."""

    def __init__(self) -> None:
        self._line: Any = None
        self._stack = contextlib.ExitStack()

    def create(self, **ask: Any) -> Any:
        if self._line is None:
            self._line = self._stack.enter_context(openai.OpenAI().responses.connect())
        self._line.send({"type": "response.create", **ask})
        while True:
            text = self._line.recv_bytes().decode()
            print(text)
            event = self._line.parse_event(text)
            if event.type == "response.completed":
                return event.response
            if event.type == "error":
                sys.exit(3)

    def close(self) -> None:
        self._stack.close()


SOCKET = Socket()


def create(**ask: Any) -> Any:
    if MODE == "socket":
        try:
            return SOCKET.create(**{k: v for k, v in ASK.items() if k != "timeout"}, **ask)
        except websockets.exceptions.InvalidStatus as refused:
            print(f"no socket: {refused.response.status_code}", file=sys.stderr)
            return openai.OpenAI().responses.create(**ASK, **ask)
    if MODE == "async":
        return asyncio.run(once_async(**ASK, **ask))
    return (streamed if MODE == "stream" else once)(**ASK, **ask)


def main() -> None:
    items: list[Any] = [{"role": "user", "content": os.environ["FLOWPROOF_PROMPT"]}]
    earlier: dict[str, Any] = {}
    while True:
        response = create(input=items, **earlier)
        print(response.model_dump_json())
        calls = [item for item in response.output if item.type == "function_call"]
        if not calls:
            SOCKET.close()
            return
        if MODE in ("continued", "socket"):  # the server keeps the history: only what is new is sent
            items, earlier = [], {"previous_response_id": response.id}
        else:
            items += [item.model_dump(exclude_none=True, exclude={"parsed_arguments"}) for item in response.output]
        for call in calls:
            result = f"{RESULTS[call.name]} in {json.loads(call.arguments)['city']}"
            items.append({"type": "function_call_output", "call_id": call.call_id, "output": result})


main()
