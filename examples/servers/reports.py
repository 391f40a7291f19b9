"""A small MCP server over stdio, standard library only: lists reports, and exports them to whoever is named."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping

REPORTS = ["2026-Q2", "2026-Q3"]
TEXT = {"type": "string"}
TOOLS = [
    {
        "name": "list_reports",
        "description": "The reports there are.",
        "inputSchema": {"type": "object", "properties": {}},
        "annotations": {"readOnlyHint": True},
    },
    {
        "name": "export",
        "description": "Send a report to an address.",
        "inputSchema": {
            "type": "object",
            "properties": {"report": TEXT, "to": TEXT},
            "required": ["report", "to"],
        },
        "annotations": {"destructiveHint": True},
    },
]


def carry_out(name: str, arguments: Mapping[str, str]) -> str:
    """What a tool call comes to."""
    if name == "export":
        return f"{arguments['report']} was sent to {arguments['to']}"
    return ", ".join(REPORTS)


def answer(method: str, params: Mapping[str, object]) -> dict[str, object]:
    """The answer to one request."""
    match method:
        case "initialize":
            opening = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}}
            return {"result": {**opening, "serverInfo": {"name": "reports", "version": "1"}}}
        case "tools/list":
            return {"result": {"tools": TOOLS}}
        case "tools/call":
            arguments = params.get("arguments")
            text = carry_out(str(params["name"]), arguments if isinstance(arguments, dict) else {})
            return {"result": {"content": [{"type": "text", "text": text}]}}
    return {"error": {"code": -32601, "message": f"{method} is not known here"}}


def main() -> None:
    """Answer line by line until the input ends."""
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            said = answer(message["method"], message.get("params", {}))
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **said}), flush=True)


if __name__ == "__main__":
    main()
