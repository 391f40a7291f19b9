"""A stand-in for the in-house model service, to record from: `service.py [PORT]` prints where it listens."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def answer(asked: dict[str, Any]) -> dict[str, Any]:
    gave = [item["gave"] for item in asked["log"] if "gave" in item]
    head = {"id": f"i-{len(asked['log'])}", "engine": asked["engine"], "cost": {"in": len(str(asked)), "out": 4}}
    if gave:
        return {**head, "say": f"It is {gave[-1]['meaning']}.", "end": "done"}
    return {**head, "run": [{"ref": "r1", "tool": "look_up", "with": {"word": "rain"}}], "end": "run"}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        said = answer(asked)
        pieces = [{key: value} for key, value in said.items()] if asked["live"] else [said]
        body = b"".join(json.dumps(piece, separators=(",", ":")).encode() + b"\n" for piece in pieces)
        self.send_response(200)
        self.send_header("content-type", "application/x-ndjson" if asked["live"] else "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


if __name__ == "__main__":
    with ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 0), Handler) as server:
        print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
        server.serve_forever()
