"""An MCP server over stdio in a few lines: `order` and `refund`, with a confirmation asked for by elicitation."""

import json
import os
import sys
import time

TOOLS = [
    {"name": "order", "inputSchema": {"type": "object", "required": ["id", "x"]}},
    {"name": "refund", "inputSchema": {"type": "object"}},
    {"name": "slow", "inputSchema": {"type": "object"}},
]


def send(message: object) -> None:
    """Write one message."""
    print(json.dumps(message), flush=True)


def answer(name: str, arguments: dict[str, object]) -> dict[str, object]:
    """The result of one call, which is written down where `SHOP_CALLS` says so."""
    if "SHOP_CALLS" in os.environ:
        with open(os.environ["SHOP_CALLS"], "a") as file:
            file.write(name + "\n")
    if name == "slow":
        time.sleep(float(str(arguments.get("s", 0.3))))
    if name == "order" and arguments.get("id") == "?":
        return {"content": [{"type": "text", "text": "no such order"}], "isError": True}
    data = {"id": arguments.get("id"), "amount": 5, "home": os.environ.get("SHOP", "")}
    return {"content": [{"type": "text", "text": json.dumps(data)}]}


print("starting up", flush=True)
for line in sys.stdin:
    request = json.loads(line)
    method = request.get("method")
    if "id" not in request:
        continue
    if method == "initialize":
        result: object = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s"}}
    elif method == "tools/list":
        first = not request["params"].get("cursor")
        result = {"tools": TOOLS[:2], "nextCursor": "2"} if first else {"tools": TOOLS[2:]}
    elif method == "tools/call" and request["params"]["name"] == "nothing":
        send({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32602, "message": "unknown tool"}})
        continue
    elif method == "tools/call":
        send({"jsonrpc": "2.0", "method": "notifications/message", "params": {}})
        send({"jsonrpc": "2.0", "id": "s1", "method": "ping"})
        result = answer(request["params"]["name"], request["params"]["arguments"])
    else:
        continue
    send({"jsonrpc": "2.0", "id": request["id"], "result": result})
