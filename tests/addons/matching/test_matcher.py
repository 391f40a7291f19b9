"""Which recording answers, and that nothing else does."""

import json
from collections.abc import Callable
from itertools import permutations
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flowproof_addons.dialects.base import Registry
from flowproof_addons.matching.divergence import Divergence
from flowproof_addons.matching.matcher import PARALLEL, Hit, Matcher
from flowproof_addons.session import Pin
from flowproof_addons.trace import body
from flowproof_addons.trace.json_value import MAX_DEPTH, compact, parse
from flowproof_addons.trace.model import BytesBody, Exchange, JsonBody, JsonValue, Reply, Request

type Make[T] = Callable[..., T]

HELLO: dict[str, JsonValue] = {
    "model": "gpt-5",
    "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hello"}],
    "temperature": 1,
    "tools": [{"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}],
}

CALLS: JsonValue = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {"id": f"call_{name}", "type": "function", "function": {"name": "search", "arguments": "{}"}} for name in "abc"
    ],
}


def results(*order: str) -> JsonValue:
    told: list[JsonValue] = [
        {"role": "tool", "tool_call_id": f"call_{name}", "content": f"found {name}"} for name in order
    ]
    messages = HELLO["messages"]
    assert isinstance(messages, list)
    return {**HELLO, "messages": [*messages, CALLS, *told]}


def test_a_recorded_request_answers_itself_byte_for_byte(
    matcher: Make[Matcher], recorded: Make[Exchange], hit: Make[Hit]
) -> None:
    recording = recorded(HELLO, {"id": "x"})
    found = hit(matcher(recording), HELLO)
    assert found == Hit(0, recording, "bytes", ())


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(HELLO),
        json.dumps(HELLO, indent=2),
        json.dumps(dict(reversed(HELLO.items()))),
        json.dumps(HELLO).replace("hello", "h\\u0065llo"),
    ],
    ids=["spaces", "indent", "key order", "escapes"],
)
def test_how_json_is_written_does_not_count(
    text: str, matcher: Make[Matcher], recorded: Make[Exchange], hit: Make[Hit]
) -> None:
    assert hit(matcher(recorded(HELLO)), text).equality == "json"


@pytest.mark.parametrize("extra", [{"stream": True}, {"stream": False, "stream_options": {"include_usage": True}}])
def test_how_the_reply_travels_does_not_count(
    extra: dict[str, JsonValue], matcher: Make[Matcher], recorded: Make[Exchange], hit: Make[Hit]
) -> None:
    assert hit(matcher(recorded(HELLO)), {**HELLO, **extra}).equality == "json"
    assert hit(matcher(recorded({**HELLO, **extra})), HELLO).equality == "json"


def test_headers_do_not_count(
    matcher: Make[Matcher], recorded: Make[Exchange], sent: Make[Request], hit: Make[Hit]
) -> None:
    assert hit(matcher(recorded(HELLO)), sent(HELLO, agent="sdk/2")).equality == "bytes"


@pytest.mark.parametrize(
    "change",
    [
        {"temperature": parse("1.0")},
        {"temperature": None},
        {"temperature": True},
        {"top_p": None},
        {"tools": []},
        {"tool_choice": "required"},
        {"response_format": {"type": "json_object"}},
        {"max_tokens": 100},
        {"parallel_tool_calls": False},
        {"reasoning_effort": "low"},
        {"model": "gpt-5-mini"},
        {"messages": [{"role": "system", "content": "Be brief"}, {"role": "user", "content": "hello"}]},
        {"messages": [{"role": "user", "content": "hello"}, {"role": "system", "content": "Be brief."}]},
    ],
    ids=str,
)
def test_everything_else_in_the_body_counts(
    change: dict[str, JsonValue], matcher: Make[Matcher], recorded: Make[Exchange], miss: Make[Divergence]
) -> None:
    assert miss(matcher(recorded(HELLO)), {**HELLO, **change}).why == "changed"


@pytest.mark.parametrize(
    "path", ["/chat/completions", "/v1/v1/chat/completions", "/v1/chat/completions?x=1", "/v1/responses"]
)
def test_the_path_and_query_count(
    path: str, matcher: Make[Matcher], recorded: Make[Exchange], sent: Make[Request], miss: Make[Divergence]
) -> None:
    assert miss(matcher(recorded(HELLO)), sent(HELLO, path=path)).why == "changed"


@pytest.mark.parametrize(("old", "new"), [('{"a": 1}', '{"a":1}'), ('{"a":1,"b":2}', '{"b":2,"a":1}'), ("{}", "")])
def test_the_raw_text_of_arguments_counts(
    old: str, new: str, matcher: Make[Matcher], recorded: Make[Exchange], miss: Make[Divergence]
) -> None:
    def called(arguments: str) -> JsonValue:
        call: JsonValue = {"id": "c", "type": "function", "function": {"name": "f", "arguments": arguments}}
        return {"messages": [{"role": "assistant", "tool_calls": [call]}]}

    miss(matcher(recorded(called(old))), called(new))


def test_each_recording_answers_once_in_the_order_of_recording(
    matcher: Make[Matcher], recorded: Make[Exchange], hit: Make[Hit], miss: Make[Divergence]
) -> None:
    run = matcher(recorded(HELLO, "first"), recorded({"other": 1}), recorded(HELLO, "second"))
    assert [hit(run, HELLO).index, hit(run, HELLO).index] == [0, 2]
    assert run.unserved() == (1,)
    report = miss(run, HELLO)
    assert (report.why, report.nearest_name) == ("already served", "recorded turn 1")


def test_concurrent_conversations_may_arrive_in_any_order(
    matcher: Make[Matcher], recorded: Make[Exchange], hit: Make[Hit]
) -> None:
    bodies: list[JsonValue] = [{"messages": [{"role": "user", "content": name}]} for name in ("task", "title", "more")]
    for order in permutations(range(3)):
        run = matcher(*map(recorded, bodies))
        assert [hit(run, bodies[index]).index for index in order] == list(order)
        assert run.unserved() == ()


def test_two_runs_of_one_cassette_share_nothing(
    matcher: Make[Matcher], recorded: Make[Exchange], hit: Make[Hit]
) -> None:
    recording = recorded(HELLO)
    one, other = matcher(recording), matcher(recording)
    assert (hit(one, HELLO).index, hit(other, HELLO).index) == (0, 0)


def test_a_miss_uses_nothing_up(
    matcher: Make[Matcher], recorded: Make[Exchange], hit: Make[Hit], miss: Make[Divergence]
) -> None:
    run = matcher(recorded(HELLO))
    miss(run, {**HELLO, "temperature": 2})
    assert run.unserved() == (0,)
    assert hit(run, HELLO).index == 0


# Results of calls made in parallel


@pytest.mark.parametrize("order", [*permutations("abc")], ids="".join)
def test_results_of_parallel_calls_may_come_in_any_order(
    order: tuple[str, ...], matcher: Make[Matcher], recorded: Make[Exchange], hit: Make[Hit]
) -> None:
    found = hit(matcher(recorded(results(*"abc"))), results(*order))
    in_order = order == ("a", "b", "c")
    assert (found.equality, found.rules) == (("bytes", ()) if in_order else ("rules", (PARALLEL,)))


@pytest.mark.parametrize("told", ["ab", "abb", "abcc", "aab"])
def test_but_each_must_be_there_once(
    told: str, matcher: Make[Matcher], recorded: Make[Exchange], miss: Make[Divergence]
) -> None:
    miss(matcher(recorded(results(*"abc"))), results(*told))


def test_of_two_equal_recordings_the_earlier_one_answers_whatever_the_order(
    matcher: Make[Matcher], recorded: Make[Exchange], hit: Make[Hit]
) -> None:
    run = matcher(recorded(results(*"abc")), recorded(results(*"cba")))
    assert [hit(run, results(*"cba")).index, hit(run, results(*"cba")).index] == [0, 1]


def anthropic(*order: str, marked: str = "") -> JsonValue:
    uses: list[JsonValue] = [{"type": "tool_use", "id": f"toolu_{name}", "name": "f", "input": {}} for name in "ab"]
    told: list[JsonValue] = []
    for name in order:
        result: dict[str, JsonValue] = {"type": "tool_result", "tool_use_id": f"toolu_{name}", "content": name}
        told.append({**result, "cache_control": {"type": "ephemeral"}} if name == marked else result)
    return {"model": "c", "messages": [{"role": "assistant", "content": uses}, {"role": "user", "content": told}]}


def test_a_cache_mark_belongs_to_the_place_not_to_the_result(
    matcher: Make[Matcher], recorded: Make[Exchange], sent: Make[Request], hit: Make[Hit], miss: Make[Divergence]
) -> None:
    run = matcher(recorded(anthropic("a", "b", marked="b"), path="/v1/messages"))
    miss(run, sent(anthropic("b", "a", marked="b"), path="/v1/messages"))
    miss(run, sent(anthropic("b", "a"), path="/v1/messages"))
    assert hit(run, sent(anthropic("b", "a", marked="a"), path="/v1/messages")).rules == (PARALLEL,)


# Side calls


def test_a_side_call_that_reads_is_optional_and_may_be_repeated(
    matcher: Make[Matcher], recorded: Make[Exchange], sent: Make[Request], hit: Make[Hit]
) -> None:
    run = matcher(
        recorded(path="/v1/models", method="GET", reply="one"), recorded(path="/v1/models", method="GET", reply="two")
    )
    assert run.unserved() == ()
    ask = sent(path="/v1/models", method="GET")
    assert [hit(run, ask).index for _ in range(4)] == [0, 1, 1, 1]


def test_a_side_call_that_writes_is_used_once_and_missed_when_it_does_not_come(
    matcher: Make[Matcher], recorded: Make[Exchange], sent: Make[Request], hit: Make[Hit], miss: Make[Divergence]
) -> None:
    run = matcher(recorded({"input": "a"}, path="/v1/embeddings"))
    assert run.unserved() == (0,)
    ask = sent({"input": "a"}, path="/v1/embeddings")
    assert hit(run, ask).index == 0
    assert miss(run, ask).why == "already served"


def test_nothing_is_dropped_from_a_side_call(
    matcher: Make[Matcher], recorded: Make[Exchange], sent: Make[Request], miss: Make[Divergence]
) -> None:
    run = matcher(recorded({"input": "a", "stream": True}, path="/v1/embeddings"))
    assert miss(run, sent({"input": "a", "stream": False}, path="/v1/embeddings")).differences[0].path == "stream"


def test_a_side_call_of_which_nothing_is_recorded(
    matcher: Make[Matcher], recorded: Make[Exchange], sent: Make[Request], miss: Make[Divergence]
) -> None:
    report = miss(matcher(recorded(HELLO)), sent(path="/v1/models", method="GET"))
    assert (report.why, report.turn) == ("nothing recorded", None)


# Other bodies


def multipart(boundary: str, content: str = "abc") -> str:
    return f'--{boundary}\r\nContent-Disposition: form-data; name="file"\r\n\r\n{content}\r\n--{boundary}--\r\n'


def test_multipart_bodies_are_compared_part_by_part(dialects: Registry, matcher: Make[Matcher]) -> None:
    def upload(boundary: str, content: str = "abc") -> Request:
        kind = {"content-type": f"multipart/form-data; boundary={boundary}"}
        return body.request("POST", "/v1/audio/transcriptions", kind, multipart(boundary, content).encode())

    run = matcher(Exchange(upload("one"), Reply(200, BytesBody(b""))))
    assert isinstance(run.match(upload("two", "abd"), None), Divergence)
    assert isinstance(run.match(upload("two"), None), Hit)


@pytest.mark.parametrize("other", ['{"a":1,"a":1}', '{"a":1}', '{"a":1,"a":2} ', ""])
def test_a_body_that_is_no_json_is_compared_byte_by_byte(
    other: str, matcher: Make[Matcher], recorded: Make[Exchange], hit: Make[Hit], miss: Make[Divergence]
) -> None:
    twice = '{"a":1,"a":2}'
    assert hit(matcher(recorded(twice)), twice).equality == "bytes"
    report = miss(matcher(recorded(twice)), other)
    assert "the recorded body is not the JSON it claims to be: the key 'a' stands twice in one object" in report.notes


# Secrets


def test_a_secret_may_change_between_record_and_replay(
    matcher: Make[Matcher], recorded: Make[Exchange], hit: Make[Hit], miss: Make[Divergence]
) -> None:
    recording = recorded({"messages": [{"role": "user", "content": "my key is ${TOKEN}"}]}, {"echo": "Bearer ${TOKEN}"})
    run = matcher(recording, secrets={"TOKEN": "tok-today-1"})
    found = hit(run, {"messages": [{"role": "user", "content": "my key is tok-today-1"}]})
    assert found.exchange.reply.body == JsonBody({"echo": "Bearer tok-today-1"})
    report = miss(matcher(recording, secrets={"TOKEN": "tok-today-1"}), {"messages": ["tok-today-1"]})
    assert "tok-today-1" not in compact(report.to_json())


def test_a_request_that_says_the_placeholder_itself_is_another_one(
    matcher: Make[Matcher], recorded: Make[Exchange], miss: Make[Divergence]
) -> None:
    run = matcher(recorded({"messages": ["${TOKEN}"]}), secrets={"TOKEN": "tok-today-1"})
    miss(run, {"messages": ["${TOKEN}"]})


# Every recording answers itself

contents: st.SearchStrategy[JsonValue] = st.sampled_from([None, "a", "b", 1, 1.0, True, [], {}, {"a": 1}])
bodies = st.fixed_dictionaries(
    {
        "model": st.sampled_from(["m", "n"]),
        "messages": st.lists(st.builds(lambda c: {"role": "user", "content": c}, contents), max_size=3),
    }
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(bodies, min_size=1, max_size=6), st.randoms())
def test_in_whatever_order_the_recorded_requests_come_all_are_answered(
    matcher: Make[Matcher], recorded: Make[Exchange], hit: Make[Hit], found: list[JsonValue], random: Random
) -> None:
    recordings = [recorded(value) for value in found]
    run = matcher(*recordings)
    order = list(range(len(found)))
    shuffle = random.shuffle
    shuffle(order)
    for index in order:
        answer = hit(run, found[index])
        assert compact(found[answer.index], sort_keys=True) == compact(found[index], sort_keys=True)
    assert run.unserved() == ()


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_the_deepest_body_is_matched_and_reported_on(
    opening: str, matcher: Make[Matcher], recorded: Make[Exchange], hit: Make[Hit], miss: Make[Divergence]
) -> None:
    def deep(leaf: str) -> str:
        closing = ("]" if opening == "[" else "}") * (MAX_DEPTH - 1)
        return '{"messages":' + opening * (MAX_DEPTH - 1) + leaf + closing + "}"

    pins = [Pin(at="**.nothing", name="a"), Pin(match="seen (.*)", name="b"), Pin(at="**", match="zz", name="c")]
    run = matcher(recorded(deep('"seen one"')), pins=pins, secrets={"TOKEN": "a-secret"})
    assert miss(run, deep('"heard two"')).differences
    assert hit(run, deep('"seen two"')).rules == ("b",)
