"""A session in progress and the flows that reach it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from mitmproxy import http
from mitmproxy.test import tflow

from flowproof_addons.dialects.registry import default
from flowproof_addons.hooks.crossing import Sessions
from flowproof_addons.live.progress import Live
from flowproof_addons.session import MockResult, Session, ToolMock, Upstream
from flowproof_addons.trace.model import Exchange, JsonBody, JsonValue, Phase, Reply, Request, Trace

PORT = 4711
CHAT = "/v1/chat/completions"

type MakeLive = Callable[..., Live]
type MakeFlow = Callable[..., http.HTTPFlow]


class Heard(list[dict[str, JsonValue]]):
    """The events a session pushed."""

    def kinds(self) -> list[JsonValue]:
        return [event["event"] for event in self]


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def make_live(tmp_path: Path, heard: Heard) -> Iterator[MakeLive]:
    made: list[Live] = []

    def make(
        phase: Phase = "replay",
        recorded: tuple[Exchange, ...] = (),
        upstreams: dict[str, Upstream] | None = None,
        results: dict[str, JsonValue] | None = None,
        **more: object,
    ) -> Live:
        mocks = tuple(ToolMock(name=n, results=(MockResult(content=c),)) for n, c in (results or {}).items())
        session = Session(
            id="s",
            phase=phase,
            folder=tmp_path,
            upstreams=upstreams or {},
            mocks=mocks,
            **more,  # type: ignore[arg-type]
        )
        trace = Trace("flowproof", "2026-01-01T00:00:00Z", "", recorded)
        made.append(Live(session, default(), trace, heard.append, lambda: dt.datetime(2026, 1, 1, tzinfo=dt.UTC)))
        return made[-1]

    yield make
    for live in made:
        live.close()


@pytest.fixture
def sessions() -> Sessions:
    return {}


@pytest.fixture
def make_flow() -> MakeFlow:
    def make(
        body: bytes = b'{"model":"m","messages":[]}',
        path: str = CHAT,
        method: str = "POST",
        headers: dict[str, str] | None = None,
        port: int = PORT,
        live: bool = True,
    ) -> http.HTTPFlow:
        flow = tflow.tflow()
        named = {"host": f"127.0.0.1:{port}", "content-type": "application/json", **(headers or {})}
        flow.request = http.Request.make(method, f"http://127.0.0.1:{port}{path}", b"", {})
        flow.request.raw_content = body
        for name, value in named.items():
            flow.request.headers[name] = value
        flow.client_conn.sockname = ("127.0.0.1", port)
        flow.live = live
        return flow

    return make


def recording(body: JsonValue, reply: JsonValue, path: str = CHAT, dialect: str = "openai-chat") -> Exchange:
    return Exchange(Request("POST", path, "", JsonBody(body)), Reply(200, JsonBody(reply)), dialect)
