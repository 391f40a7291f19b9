"""The model a doctor's session records from: a small loopback server on a thread of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from flowproof_addons.dialects.base import Registry
from flowproof_addons.trace import body
from flowproof_runner.doctor import canned


@contextmanager
def standin(registry: Registry) -> Iterator[str]:
    """Serve canned replies for as long as the block lasts; gives the base URL."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _handler(registry)) as server:
        server.daemon_threads = True
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, name="doctor-standin", daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def _handler(registry: Registry) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers.get("content-length") or 0))
            reply = canned.answer(body.request(self.command, self.path, dict(self.headers), data), registry)
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)

        do_GET = do_DELETE = do_PUT = do_PATCH = do_POST

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing: what arrived is read from the session's journal."""

    return Handler
