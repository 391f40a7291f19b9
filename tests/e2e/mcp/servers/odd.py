"""Servers that misbehave, one way each; standard library only. `odd.py WAY [FOLDER]`"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

way = sys.argv[1]


def say(message: dict[str, Any]) -> None:
    write({"jsonrpc": "2.0", **message})


def write(value: Any) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def text(value: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": value}]}


def stay(folder: Path) -> None:
    """Be hard to end: a child, and no ear for signals."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    child = subprocess.Popen(["sleep", "600"])
    (folder / f"pids-{os.getpid()}").write_text(f"{os.getpid()} {child.pid}")


if way == "stays":
    stay(Path(sys.argv[2]))
if way == "absent":
    sys.exit("no licence")

held: list[int] = []
for line in sys.stdin:
    message = json.loads(line)
    if isinstance(message, list):
        write([{"jsonrpc": "2.0", "id": each["id"], "result": text("fine")} for each in message])
        continue
    method, id_ = message.get("method"), message.get("id")
    if method == "initialize":
        say({"id": id_, "result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {}}})
    elif method == "tools/call":
        if way == "chatter":
            print("Loading model weights...", flush=True)
        elif way == "dies":
            sys.stderr.write("segmentation fault\n")
            os._exit(3)
        elif way == "hangs":
            time.sleep(600)
        elif way == "reversed":
            held.append(id_)
            if len(held) == 3:
                for each in reversed(held):
                    say({"id": each, "result": text(f"answer {each}")})
            continue
        elif way == "huge":
            say({"id": id_, "result": text("x" * 10_000_000)})
            continue
        elif way == "environment":
            say({"id": id_, "result": text(json.dumps({"env": sorted(os.environ), "cwd": os.getcwd()}))})
            continue
        say({"id": id_, "result": text("fine")})

if way == "stays":
    time.sleep(600)
