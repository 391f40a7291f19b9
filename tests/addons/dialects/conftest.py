from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from flowproof_addons.dialects import raw, registry
from flowproof_addons.dialects.base import Dialect
from flowproof_addons.testing import Sample
from flowproof_addons.trace.model import JsonBody, Request

DATA = Path(__file__).parents[2] / "data" / "dialects"
PATHS = {
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "anthropic-messages": "/v1/messages",
    "gemini": "/v1beta/models/gemini-3-flash:streamGenerateContent",
    "ollama-chat": "/api/chat",
}
QUERIES = {"gemini": "alt=sse"}
OWN = registry.assembled(())


def sample(dialect: str, name: str) -> Sample:
    request, reply = (raw.parse((DATA / dialect / f"{name}.{kind}.json").read_text()) for kind in ("request", "reply"))
    stream = (DATA / dialect / f"{name}.stream").read_bytes()
    return Sample(Request("POST", PATHS[dialect], QUERIES.get(dialect, ""), JsonBody(request)), reply, stream)


def names(dialect: str) -> list[str]:
    return sorted(path.name.removesuffix(".stream") for path in (DATA / dialect).glob("*.stream"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that asks for `dialect` and `sample` runs for every sample; one that asks for `kit`, for every dialect."""
    if "sample" in metafunc.fixturenames:
        cases = [
            pytest.param(dialect, sample(dialect.name, name), id=f"{dialect.name}-{name}")
            for dialect in OWN.dialects
            for name in names(dialect.name)
        ]
        metafunc.parametrize(("dialect", "sample"), cases)
    if "kit" in metafunc.fixturenames:
        kits = [(dialect, [sample(dialect.name, name) for name in names(dialect.name)]) for dialect in OWN.dialects]
        metafunc.parametrize("kit", kits, ids=[dialect.name for dialect, _ in kits])


@pytest.fixture
def load() -> Callable[[str, str], tuple[Dialect, Sample]]:
    """One sample by dialect and name, with its dialect."""

    def load(dialect: str, name: str) -> tuple[Dialect, Sample]:
        found = OWN.named(dialect)
        assert found is not None
        return found, sample(dialect, name)

    return load


class Serving:
    """A loopback server that gives every request the same answer and counts them."""

    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.requests = 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                outer.requests += 1
                self.rfile.read(int(self.headers["content-length"]))
                self.send_response(status)
                for name, value in {**headers, "content-length": str(len(body))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def serve() -> Iterator[Callable[[int, dict[str, str], bytes], Serving]]:
    """Start a server with one answer; it stops with the test."""
    started: list[Serving] = []

    def serve(status: int, headers: dict[str, str], body: bytes) -> Serving:
        serving = Serving(status, headers, body)
        Thread(target=serving.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        started.append(serving)
        return serving

    yield serve
    for serving in started:
        serving.server.shutdown()
        serving.server.server_close()
