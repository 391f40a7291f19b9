"""The self-test of strictness is itself strict: it changes everything, and a lax matcher is found out."""

from collections.abc import Callable
from pathlib import Path

import pytest

from flowproof_addons.dialects.base import Registry
from flowproof_addons.matching.matcher import Hit, Matcher
from flowproof_addons.matching.mutations import mutations, survivors
from flowproof_addons.session import Pin
from flowproof_addons.trace import body
from flowproof_addons.trace.file import load
from flowproof_addons.trace.json_value import parse
from flowproof_addons.trace.model import BytesBody, Exchange, JsonBody, JsonValue, Reply, Request

type Make[T] = Callable[..., T]

BODY: JsonValue = parse(
    '{"model":"m","stream":true,"stream_options":{"include_usage":true},"temperature":0.5,"n":1,"x":null,"flag":false,'
    '"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","tool_calls":['
    '{"id":"a","type":"function","function":{"name":"f","arguments":"{\\"k\\": 1}"}},'
    '{"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}]},'
    '{"role":"tool","tool_call_id":"a","content":"1"},{"role":"tool","tool_call_id":"b","content":"2"}]}'
)
FORM = body.request(
    "POST",
    "/v1/files",
    {"content-type": "multipart/form-data; boundary=X"},
    b'--X\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n'
    b'--X\r\nContent-Disposition: form-data; name="b"\r\n\r\n2\r\n--X--\r\n',
)


def test_every_place_of_a_body_is_changed_in_every_way(sent: Make[Request]) -> None:
    told = {description for description, _ in mutations(sent({"a": [1, {"b": "x"}], "c": None}))}
    assert told == {
        "method: changed",
        "path: changed",
        "query: changed",
        "flowproof_mutation: added",
        "a: removed",
        "a[0]: changed",
        "a[0]: literal changed",
        "a[0]: made text",
        "a[0]: removed",
        "a[0]: doubled",
        "a[0]: swapped with the next",
        "a[1]: removed",
        "a[1]: doubled",
        "a[1].flowproof_mutation: added",
        "a[1].b: removed",
        "a[1].b: changed",
        "a[1].b: white space added",
        "a[1].b: made null",
        "a[1].b: cut",
        "a[1].b: made a list of text",
        "a[2]: added",
        "c: removed",
        "c: null made empty",
    }


def test_each_mutation_is_another_request(sent: Make[Request]) -> None:
    original = sent(BODY)
    found = [request for _, request in mutations(original)]
    assert len(found) > 100
    assert all(
        (one.method, one.path, one.query, one.digest)
        != (original.method, original.path, original.query, original.digest)
        for one in found
    )


@pytest.mark.parametrize(
    "request_",
    [
        body.request("POST", "/v1/chat/completions", {}, b'{"model":"m","messages":[]}'),
        body.request("POST", "/v1/x", {}, b"text"),
        body.request("GET", "/v1/models", {}, b""),
        FORM,
    ],
    ids=["turn", "text", "empty", "multipart"],
)
def test_no_mutation_survives(request_: Request, dialects: Registry) -> None:
    dialect = dialects.find(request_.method, request_.path)
    exchange = Exchange(request_, Reply(200, BytesBody(b"")), dialect.name if dialect else None)
    assert survivors(exchange, dialects) == []


def test_what_is_not_compared_by_decree_is_left_out_and_nothing_else(
    recorded: Make[Exchange], dialects: Registry
) -> None:
    assert survivors(recorded(BODY), dialects) == []


def test_a_lax_rule_is_found_out(recorded: Make[Exchange], dialects: Registry) -> None:
    pins = [Pin(at="temperature", name="lax")]
    assert survivors(recorded(BODY), dialects, pins) == ["temperature: changed", "temperature: literal changed"]


CASSETTES = sorted((Path(__file__).parents[3] / "specs").rglob("*.trace.json"))


@pytest.mark.parametrize("path", CASSETTES, ids=lambda path: path.name)
def test_every_cassette_we_ship_is_strict_and_answers_itself(
    path: Path, dialects: Registry, matcher: Make[Matcher]
) -> None:
    exchanges = load(path).exchanges
    assert [found for exchange in exchanges for found in survivors(exchange, dialects)] == []
    run = matcher(*exchanges)
    for exchange in exchanges:
        dialect = dialects.named(exchange.dialect) if exchange.dialect else None
        assert isinstance(run.match(exchange.request, dialect), Hit)
    assert run.unserved() == ()


def test_there_are_cassettes_to_prove_it_on() -> None:
    assert CASSETTES


def test_a_mutated_json_body_stays_json(sent: Make[Request]) -> None:
    assert all(isinstance(request.body, JsonBody) for _, request in mutations(sent(BODY)))
