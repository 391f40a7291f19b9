"""An agent whose tools are an MCP server's. In plan mode its own code keeps the destructive ones from being called.

The server's command is in FLOWPROOF_MCP_SERVER_REPORTS; without flowproof it would be the real server's.
"""

import json
import os
import subprocess
import urllib.request
from types import TracebackType
from typing import Any, Self

PLANNING = os.environ.get("AGENT_MODE") == "plan"


class Server:
    """A stdio MCP server and what it offers."""

    def __init__(self, command: str) -> None:
        self._process = subprocess.Popen([command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._requests = 0

    def __enter__(self) -> Self:
        client = {"name": "plan-mode", "version": "1"}
        self.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=client)
        self._say({"method": "notifications/initialized"})
        self.tools: list[dict[str, Any]] = self.ask("tools/list")["tools"]
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.communicate()

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        self._requests += 1
        self._say({"id": self._requests, "method": method, "params": params})
        assert self._process.stdout is not None
        result: dict[str, Any] = json.loads(self._process.stdout.readline())["result"]
        return result

    def _say(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self._process.stdin.flush()


def carry_out(server: Server, name: str, arguments: dict[str, Any]) -> str:
    tool = next(tool for tool in server.tools if tool["name"] == name)
    if PLANNING and not tool["annotations"].get("readOnlyHint"):
        return f"refused: {name} changes something, and this is plan mode"
    return str(server.ask("tools/call", name=name, arguments=arguments)["content"][0]["text"])


def ask(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> dict[str, Any]:
    offered = [{"type": "function", "function": {"name": t["name"], "parameters": t["inputSchema"]}} for t in tools]
    body = json.dumps({"model": "gpt-5-mini", "messages": messages, "tools": offered}).encode()
    headers = {"content-type": "application/json", "authorization": f"Bearer {os.environ['OPENAI_API_KEY']}"}
    url = f"{os.environ['OPENAI_BASE_URL']}/chat/completions"
    with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as reply:
        message: dict[str, Any] = json.load(reply)["choices"][0]["message"]
    return message


def main() -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": os.environ["FLOWPROOF_PROMPT"]}]
    with Server(os.environ["FLOWPROOF_MCP_SERVER_REPORTS"]) as server:
        while calls := (message := ask(messages, server.tools)).get("tool_calls"):
            messages.append(message)
            for call in calls:
                result = carry_out(server, call["function"]["name"], json.loads(call["function"]["arguments"]))
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
        print(message["content"])


if __name__ == "__main__":
    main()
