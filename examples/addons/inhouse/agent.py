"""An agent on the in-house API: looks a word up and says what it found. `LIVE=1` streams."""

import json
import os
import urllib.request
from collections.abc import Iterator
from typing import Any


def lines(asked: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The answer: one line of JSON, or in a stream one for each piece."""
    headers = {"content-type": "application/json", "x-token": os.environ.get("INHOUSE_TOKEN", "")}
    request = urllib.request.Request(f"{os.environ['INHOUSE_URL']}/answer", json.dumps(asked).encode(), headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        yield from (json.loads(line) for line in answer if line.strip())


def ask(log: list[dict[str, Any]]) -> dict[str, Any]:
    live = bool(os.environ.get("LIVE"))
    whole: dict[str, Any] = {}
    for line in lines({"engine": "in-1", "rules": "Be brief.", "can": ["look_up"], "live": live, "log": log}):
        whole |= {**line, "say": whole.get("say", "") + line["say"]} if line.get("say") else line
    return whole


def main() -> None:
    log: list[dict[str, Any]] = [{"who": "user", "say": os.environ["FLOWPROOF_PROMPT"]}]
    while calls := (said := ask(log)).get("run"):
        log.append({"who": "engine", "run": calls})
        log += [
            {"who": "tool", "ref": call["ref"], "gave": {"meaning": f"about {call['with']['word']}"}} for call in calls
        ]
    print(said["say"])


if __name__ == "__main__":
    main()
