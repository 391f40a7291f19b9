"""The conformance kit: what every dialect must do, checked on samples its author gives. For any test framework.

def test_my_dialect():
    check(MyDialect(), [Sample(request, reply, stream)])
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from flowproof_addons.dialects import framing, raw
from flowproof_addons.dialects.base import Conversational, Dialect, ErrorText, Mock, ModelReply, StreamEvent, Usage
from flowproof_addons.trace import json_value
from flowproof_addons.trace.model import JsonBody, JsonValue, Request

__all__ = ["CHECKS", "Sample", "check"]

_JUNK: tuple[JsonValue, ...] = (None, True, 7, "text", [], {}, [None], [[]], [{}], {"type": 1})
_RETRIED = (408, 409, 422, 425, 429)
"""4xx answers that some SDK sends the request again for."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One turn of the API, as real as you can get it."""

    request: Request
    """With a `JsonBody`. At least one sample carries tool results."""
    reply: JsonValue
    """The answer without streaming. At least one sample calls a tool."""
    stream: bytes | None = None
    """A real stream that says the same as `reply`."""


def check(dialect: Dialect, samples: Sequence[Sample]) -> None:
    """Run every check on every sample. Raises AssertionError that says which rule is broken, and how.

    Two samples at least have to be there for this to mean anything: a request with tool results, a reply with a call.
    """
    assert any(dialect.read_request(sample.request).results for sample in samples), (
        "no tool result found: give a sample whose request tells the model one, or mend read_request"
    )
    assert any(dialect.read_reply(sample.reply).calls for sample in samples), (
        "no tool call found: give a sample whose reply has one, or mend read_reply"
    )
    for rule in CHECKS:
        for sample in samples:
            rule(dialect, sample)


def has_a_name(dialect: Dialect, sample: Sample) -> None:
    """Its name can be written into cassettes, its variables are variables."""
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", dialect.name), f"{dialect.name!r} is not lower-case words and dashes"
    assert dialect.framing in ("sse", "ndjson"), f"{dialect.framing!r} is no framing"
    for variable in (*dialect.base_url_variables, *dialect.key_variables):
        assert re.fullmatch(r"[A-Z][A-Z0-9_]*", variable), f"{variable!r} is no name of an environment variable"


def claims_its_turns_only(dialect: Dialect, sample: Sample) -> None:
    """It claims its requests behind any prefix, and nothing else."""
    method, path = sample.request.method, sample.request.path
    assert dialect.claims(method, path), f"{method} {path} is a turn and is not claimed"
    assert dialect.claims(method, f"/some/gateway{path}"), f"{path} is not claimed behind a prefix"
    for other in ("/", "/v1/models", "/v1/embeddings", "/v1/messages/count_tokens"):
        assert not dialect.claims(method, other), f"{method} {other} is claimed, it is no turn"
    for verb in ("GET", "HEAD", "OPTIONS"):
        assert not dialect.claims(verb, path), f"{verb} {path} is claimed, it is no turn"


def carries_the_key(dialect: Dialect, sample: Sample) -> None:
    """The key goes into headers with lower-case names."""
    headers = dialect.authorize("k-123")
    assert any("k-123" in value for value in headers.values()), "no header of authorize() carries the key"
    assert all(name == name.lower() for name in headers), f"header names are lower-case, not {list(headers)}"


def reads_what_is_there(dialect: Dialect, sample: Sample) -> None:
    """Every path it reports leads to something in the request."""
    body = raw.of_body(sample.request.body)
    asked = dialect.read_request(sample.request)
    for result in asked.results:
        owner = raw.found(body, result.path[:-1])
        assert result.path and isinstance(owner, dict), f"the result path {result.path} leads nowhere"
    for group in asked.parallel:
        assert len(group) > 1, f"a parallel group of one: {group}"
        assert all(raw.found(body, path) is not None for path in group), f"a parallel path leads nowhere: {group}"
        told = [result for result in asked.results if any(result.path[: len(path)] == path for path in group)]
        assert len(told) == len(group), f"a parallel group holds something that is no tool result: {group}"


def survives_junk(dialect: Dialect, sample: Sample) -> None:
    """No body makes it raise, whatever stands in it."""
    for body in _spoilt(raw.of_body(sample.request.body)):
        request = replace(sample.request, body=JsonBody(body))
        _survives(body, dialect.read_request, request)
        _survives(body, dialect.wants_stream, request)
        if isinstance(dialect, Conversational):
            _survives(body, dialect.read_conversation, request)
    for reply in _spoilt(sample.reply):
        _survives(reply, dialect.read_reply, reply)
        _survives(reply, dialect.synthesise, reply, sample.request)
    for data in ("", "not json", "[DONE]", *map(raw.compact, _JUNK)):
        _survives(data, dialect.assemble, [StreamEvent(data, "x")])


def reads_an_error_as_nothing(dialect: Dialect, sample: Sample) -> None:
    """An error body is an empty reply."""
    error = raw.parse(dialect.error(ErrorText("no")).body.decode())
    read = dialect.read_reply(error)
    empty = ModelReply(None, (), Usage(), "", "", None)
    assert read == empty, f"an error body reads as {read}"


def streams_without_loss(dialect: Dialect, sample: Sample) -> None:
    """A stream made from the reply adds up to the reply, also after a journey over the wire."""
    wire = framing.of(dialect.framing)
    events = list(dialect.synthesise(sample.reply, sample.request))
    _same(dialect.assemble(events), sample.reply, "assemble(synthesise(reply)) is not the reply")
    frames = wire.split(b"".join(wire.frames(events)))
    _same(dialect.assemble(wire.events(frames)), sample.reply, "the reply does not survive the wire")


def assembles_real_streams(dialect: Dialect, sample: Sample) -> None:
    """The sample's own stream adds up to its reply, and a stream cut anywhere does no harm."""
    wire = framing.of(dialect.framing)
    frames = wire.split(sample.stream or b"".join(wire.frames(dialect.synthesise(sample.reply, sample.request))))
    _same(dialect.assemble(wire.events(frames)), sample.reply, "the stream does not add up to the reply")
    for count in range(len(frames)):
        cut = wire.events((*frames[:count], frames[count][: len(frames[count]) // 2]))
        _survives(f"a stream cut in frame {count}", dialect.assemble, cut)
    assert dialect.assemble([]) is None, "a stream without events assembles to None"


def substitutes_results(dialect: Dialect, sample: Sample) -> None:
    """A mock stands where the result stood, nothing else changes, and the agent's body is left alone."""
    body = raw.of_body(sample.request.body)
    asked = dialect.read_request(sample.request)
    for result in asked.results:
        for mock in (Mock({"mocked": [1, True, None]}), Mock("plain words"), Mock("it broke", is_error=True)):
            before = copy.deepcopy(body)
            new = dialect.substitute(body, {result.path: mock})
            assert json_value.same(body, before), "substitute mutates its argument"
            again = dialect.read_request(replace(sample.request, body=JsonBody(new)))
            assert [r.path for r in again.results] == [r.path for r in asked.results], "substitute moves results"
            for old, now in zip(asked.results, again.results, strict=True):
                if old.path == result.path:
                    assert _tells(now.content, mock.content), f"{old.path} reads {now.content!r}, not {mock.content!r}"
                    assert mock.is_error or not now.is_error, f"the result at {old.path} is still an error"
                else:
                    assert old == now, f"the result at {old.path} changes, which nobody asked for"
    _same(dialect.substitute(body, {}), body, "substitute changes a body although nothing is to be replaced")


def refuses_without_retry(dialect: Dialect, sample: Sample) -> None:
    """Its error is shown by SDKs and not tried again."""
    reply = dialect.error(ErrorText("the reason is this: é"))
    assert 400 <= reply.status < 500, f"status {reply.status} is retried by SDKs, or no error at all"
    assert reply.status not in _RETRIED, f"status {reply.status} is retried by SDKs"
    assert reply.headers.get("x-should-retry") == "false", "x-should-retry: false is missing"
    assert reply.headers.get("content-type", "").startswith("application/json"), "the error is not declared as JSON"
    body = raw.parse(reply.body.decode())
    assert "the reason is this: é" in list(_texts(body)), f"no field of the error is the message: {body}"


type Check = Callable[[Dialect, Sample], None]

CHECKS: tuple[Check, ...] = (
    has_a_name,
    claims_its_turns_only,
    carries_the_key,
    reads_what_is_there,
    survives_junk,
    reads_an_error_as_nothing,
    streams_without_loss,
    assembles_real_streams,
    substitutes_results,
    refuses_without_retry,
)
"""Every rule, in the order `check` runs them."""


def _same(actual: JsonValue, expected: JsonValue, otherwise: str) -> None:
    assert json_value.same(actual, expected), (
        f"{otherwise}\n  expected {raw.compact(expected)}\n  actual   {raw.compact(actual)}"
    )


def _tells(content: JsonValue, expected: JsonValue) -> bool:
    """True when the result says what is expected, whatever envelope of the API (streams, parts) is around it."""
    return content == expected or any(
        text == expected or text == raw.compact(expected) for text in _texts(content) if text
    )


def _survives(given: JsonValue, method: Callable[..., object], *arguments: object) -> None:
    try:
        method(*arguments)
    except Exception as error:  # the point of the check: nothing may come out
        raise AssertionError(f"{method.__name__} raises {error!r} on {raw.compact(given)}") from error


def _texts(value: JsonValue) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for inner in value.values():
                yield from _texts(inner)
        case list():
            for inner in value:
                yield from _texts(inner)
        case _:
            pass


def _spoilt(value: JsonValue) -> Iterator[JsonValue]:
    """The value with junk in place of each of its parts, one at a time, the whole included."""
    for path in _paths(value):
        for junk in _JUNK:
            yield raw.replaced(value, path, junk)


def _paths(value: JsonValue) -> Iterator[tuple[str | int, ...]]:
    yield ()
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in inner:
        yield from ((key, *rest) for rest in _paths(child))
