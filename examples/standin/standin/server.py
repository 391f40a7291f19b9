"""The HTTP/1.1 server: turns in four APIs, streamed or not, and the side calls agents make."""

from __future__ import annotations

import gzip
import hashlib
import json
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Self

from flowproof_addons.dialects import framing, raw, registry
from flowproof_addons.dialects.base import Dialect, ModelRequest
from flowproof_addons.trace.model import JsonBody, JsonValue, Request
from standin import script, voices

type Choice = Callable[[ModelRequest, Mapping[str, JsonValue]], script.Rule | None]
"""What answers a request, read and raw; None: nothing does."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One request as it arrived: what tests compare with what the agent sent."""

    method: str
    path: str
    """With the query."""
    headers: Mapping[str, str]
    """Lower-case names."""
    body: bytes


class StandIn(ThreadingHTTPServer):
    """The server. `with StandIn(script.rules([...])) as model:` answers at `model.url` until the block ends.

    In place of a script: a function that chooses, such as `coder.choose`.
    """

    daemon_threads = True
    request_queue_size = 64

    def __init__(
        self, rules: Sequence[script.Rule] | Choice | None = None, port: int = 0, log: Path | None = None
    ) -> None:
        self.choose = rules if callable(rules) else partial(script.choose, script.load() if rules is None else rules)
        self.seen: list[Seen] = []
        """Every request so far, in order."""
        self._log = log
        self._lock = threading.Lock()
        self._failed: dict[int, int] = {}
        super().__init__(("127.0.0.1", port), Handler)

    @property
    def url(self) -> str:
        """`http://127.0.0.1:PORT`; SDKs of OpenAI want `/v1` behind it."""
        return f"http://127.0.0.1:{self.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()

    def note(self, seen: Seen) -> None:
        """Keep a request, in memory and in the log file."""
        with self._lock:
            self.seen.append(seen)
            if self._log is not None:
                line = {"method": seen.method, "path": seen.path, "body": seen.body.decode(errors="replace")}
                with self._log.open("a") as file:
                    file.write(json.dumps(line) + "\n")

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is no error of ours; anything else is shown."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]  # as in socketserver itself

    def still_fails(self, rule: script.Rule, fail: script.Fail) -> bool:
        """True for the first `fail.times` requests that this rule answers."""
        with self._lock:
            count = self._failed.get(id(rule), 0)
            self._failed[id(rule)] = count + 1
            return count < fail.times


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_HEAD(self) -> None:
        """Claude Code asks before it starts."""
        self._received()
        self._send(200, b"")

    def do_GET(self) -> None:
        """The list of models, and nothing else."""
        self._received()
        if self.path.partition("?")[0].endswith("/models"):
            model: dict[str, JsonValue] = {
                "id": "standin-1",
                "object": "model",
                "created": voices.CREATED,
                "owned_by": "standin",
            }
            self._json(200, {"object": "list", "data": [model], "has_more": False})
        else:
            self._json(404, voices.error("not_found_error", f"no {self.path} here"))

    def do_POST(self) -> None:
        """Turns, and the side calls agents make."""
        body = self._received()
        path, _, query = self.path.partition("?")
        try:
            value = raw.parse(body.decode())
        except ValueError as error:
            self._json(400, voices.error("invalid_request_error", f"the body is no JSON: {error}"))
            return
        dialect = registry.default().find("POST", path)
        if dialect is not None and dialect.name in voices.BY_DIALECT:
            self._turn(dialect, Request("POST", path, query, JsonBody(value)))
        elif path.endswith("/count_tokens"):
            self._json(200, {"input_tokens": 1 + len(body) // 4})
        elif path.endswith("/embeddings"):
            self._json(200, voices.embeddings(raw.as_object(value)))
        else:
            self._json(404, voices.error("not_found_error", f"no {self.path} here"))

    def _turn(self, dialect: Dialect, request: Request) -> None:
        body = raw.of_body(request.body)
        asked = dialect.read_request(request)
        rule = self._standin.choose(asked, body)
        if rule is None:
            said = script.last_user_text(body)
            self._json(400, voices.error("invalid_request_error", f"no rule of the script answers {said!r}"))
        elif rule.fail is not None and self._standin.still_fails(rule, rule.fail):
            self._json(rule.fail.status, voices.error("rate_limit_error", "not yet"), {"retry-after-ms": "5"})
        else:
            text = raw.compact({k: v for k, v in body.items() if k not in ("stream", "stream_options")})
            turn = voices.Turn(rule, asked.model, hashlib.sha256(text.encode()).hexdigest(), len(text))
            reply = voices.BY_DIALECT[dialect.name](turn)
            headers = {"x-request-id": f"req_{turn.digest[:24]}", "request-id": f"req_{turn.digest[:24]}"}
            if dialect.wants_stream(request):
                frames = framing.of(dialect.framing).frames(dialect.synthesise(reply, request))
                self._stream(rule, frames, {**headers, "content-type": framing.of(dialect.framing).content_type})
            else:
                self._json(200, reply, headers)

    def _stream(self, rule: script.Rule, frames: Sequence[bytes], headers: Mapping[str, str]) -> None:
        stop = min(n for n in (rule.cut_after, rule.error_after, len(frames)) if n is not None)
        self._head(200, {**headers, "transfer-encoding": "chunked"})
        for frame in frames[:stop]:
            time.sleep(rule.delay_ms / 1000)
            self._chunk(frame)
        if rule.error_after is not None:
            error = voices.error("overloaded_error", "the stand-in was told to break")
            self._chunk(f"event: error\ndata: {raw.compact(error)}\n\n".encode())
        if rule.cut_after is not None and stop < len(frames):
            self.close_connection = True  # without the last chunk: the reader sees a cut, not an end
        else:
            self._chunk(b"")

    def _received(self) -> bytes:
        """The request's body, noted as it came and returned with gzip undone."""
        headers = {name.lower(): value for name, value in self.headers.items()}
        if headers.get("transfer-encoding") == "chunked":
            body = b"".join(iter(self._received_chunk, b""))
        else:
            body = self.rfile.read(int(headers.get("content-length", 0)))
        self._standin.note(Seen(self.command, self.path, headers, body))
        return gzip.decompress(body) if headers.get("content-encoding") == "gzip" else body

    def _received_chunk(self) -> bytes:
        data = self.rfile.read(int(self.rfile.readline().partition(b";")[0], 16))
        self.rfile.readline()
        return data

    def _json(self, status: int, body: JsonValue, headers: Mapping[str, str] | None = None) -> None:
        self._send(status, raw.compact(body).encode(), {"content-type": "application/json", **(headers or {})})

    def _send(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self._head(status, {**(headers or {}), "content-length": str(len(body))})
        self.wfile.write(body)

    def _head(self, status: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    @property
    def _standin(self) -> StandIn:
        assert isinstance(self.server, StandIn)
        return self.server

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the first line of stdout is for whoever started us."""
