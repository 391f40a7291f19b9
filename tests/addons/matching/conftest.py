"""Requests, recordings and matchers, made from little."""

import datetime as dt
from collections.abc import Callable, Mapping, Sequence

import pytest

from flowproof_addons.dialects import registry
from flowproof_addons.dialects.base import Registry
from flowproof_addons.matching.divergence import Divergence
from flowproof_addons.matching.matcher import Hit, Matcher
from flowproof_addons.session import Pin
from flowproof_addons.trace import body
from flowproof_addons.trace.json_value import compact
from flowproof_addons.trace.model import Exchange, JsonBody, JsonValue, Reply, Request
from flowproof_addons.trace.redact import Redactor

CHAT = "/v1/chat/completions"


@pytest.fixture
def dialects() -> Registry:
    return registry.default()


@pytest.fixture
def clock() -> list[dt.datetime]:
    """The time it is: the last of the list."""
    return [dt.datetime(2026, 12, 2, 10, tzinfo=dt.UTC)]


@pytest.fixture
def sent() -> Callable[..., Request]:
    """A request as an agent sends it; text is taken as the body's bytes."""

    def make(value: JsonValue = None, path: str = CHAT, method: str = "POST", agent: str = "sdk/1") -> Request:
        headers = {"content-type": "application/json", "user-agent": agent}
        data = value if isinstance(value, str) else "" if value is None else compact(value)
        return body.request(method, path, headers, data.encode())

    return make


@pytest.fixture
def recorded(sent: Callable[..., Request], dialects: Registry) -> Callable[..., Exchange]:
    """A recording as a cassette holds it."""

    def make(value: JsonValue = None, reply: JsonValue = None, path: str = CHAT, method: str = "POST") -> Exchange:
        request = sent(value, path, method)
        dialect = dialects.find(method, request.path)
        return Exchange(request, Reply(200, JsonBody(reply)), dialect.name if dialect else None)

    return make


@pytest.fixture
def matcher(dialects: Registry, clock: list[dt.datetime]) -> Callable[..., Matcher]:
    """A matcher over recordings."""

    def make(
        *recordings: Exchange,
        pins: Sequence[Pin] = (),
        secrets: Mapping[str, str] | None = None,
        user_turn: int | None = None,
        aside: int | None = None,
        **circumstances: str,
    ) -> Matcher:
        redactor = Redactor(secrets or {})
        return Matcher(
            recordings,
            pins,
            dialects,
            clock=lambda: clock[-1],
            redactor=redactor,
            user_turn=user_turn,
            aside=aside,
            **circumstances,
        )

    return make


@pytest.fixture
def match(sent: Callable[..., Request], dialects: Registry) -> Callable[..., Hit | Divergence]:
    """What answers a request."""

    def ask(matcher: Matcher, request: Request | JsonValue) -> Hit | Divergence:
        asked = request if isinstance(request, Request) else sent(request)
        return matcher.match(asked, dialects.find(asked.method, asked.path))

    return ask


@pytest.fixture
def hit(match: Callable[..., Hit | Divergence]) -> Callable[..., Hit]:
    """The same, and it must be a recording."""

    def ask(matcher: Matcher, request: Request | JsonValue) -> Hit:
        found = match(matcher, request)
        assert isinstance(found, Hit), "\n".join(found.lines())
        return found

    return ask


@pytest.fixture
def miss(match: Callable[..., Hit | Divergence]) -> Callable[..., Divergence]:
    """The same, and there must be none."""

    def ask(matcher: Matcher, request: Request | JsonValue) -> Divergence:
        found = match(matcher, request)
        assert isinstance(found, Divergence), f"recording {found.index} answered"
        assert Divergence.from_json(found.to_json()).lines() == found.lines()
        return found

    return ask
