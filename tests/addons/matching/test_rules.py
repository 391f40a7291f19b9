"""Pins allow what they say, on both sides, and nothing beside it."""

import datetime as dt
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flowproof_addons.matching.divergence import Divergence
from flowproof_addons.matching.matcher import ECHO, Hit, Matcher
from flowproof_addons.matching.rules import PinError, Rules, unmarked
from flowproof_addons.session import Pin
from flowproof_addons.trace.model import Exchange, JsonBody, JsonValue

type Make[T] = Callable[..., T]

UUID = "0197dc3d-2f63-7a2e-9a3b-3c1a5d0f6b1{}"


def said(*contents: JsonValue, **members: JsonValue) -> JsonValue:
    return {"model": "m", "messages": [{"role": "user", "content": content} for content in contents], **members}


DATE_PIN = Pin(at="messages[*].content", match=r"Today is (\S+)\.", kind="date", name="date")
CACHE_KEY = Pin(at="prompt_cache_key", name="cache key")
CHUNK = Pin(match=r"Chunk ID: ([0-9a-f]{6})", name="chunk")
SHAPED = Pin(at="messages[*].id", match=rf"^(?:msg|fco)_{UUID[:-3]}.*$", name="ids")


@pytest.mark.parametrize(
    ("pin", "recorded_value", "sent_value"),
    [
        (CACHE_KEY, said("a", prompt_cache_key="x"), said("a", prompt_cache_key="y")),
        (CACHE_KEY, said("a", prompt_cache_key="x"), said("a", prompt_cache_key={"other": ["type"]})),
        (CHUNK, said("ok\nChunk ID: e8297b\n"), said("ok\nChunk ID: 0a1b2c\n")),
        (CHUNK, said([{"text": "Chunk ID: e8297b"}]), said([{"text": "Chunk ID: 0a1b2c"}])),
        (Pin(at="**.id", name="id"), said("a", x={"id": 1}), said("a", x={"id": 2})),
        (Pin(at="tools", name="tools"), said("a", tools=[1, 2]), said("a", tools=[])),
        (
            Pin(at="messages[*].content", match="up \\d+s mem=\\d+MB", name="ps"),
            said("up 2s mem=2MB"),
            said("up 31s mem=9MB"),
        ),
        (DATE_PIN, said("Today is 2026-11-01."), said("Today is 2026-12-02.")),
        (Pin(kind="date", name="any date"), said("on 11/1/2026 and 2026-11-01"), said("on 12/2/2026 and 2026-12-02")),
    ],
    ids=lambda value: value.name if isinstance(value, Pin) else "",
)
def test_a_pinned_span_may_differ_and_is_counted(
    pin: Pin,
    recorded_value: JsonValue,
    sent_value: JsonValue,
    matcher: Make[Matcher],
    recorded: Make[Exchange],
    hit: Make[Hit],
    miss: Make[Divergence],
) -> None:
    miss(matcher(recorded(recorded_value)), sent_value)
    run = matcher(recorded(recorded_value), pins=[pin])
    found = hit(run, sent_value)
    assert (found.equality, found.rules) == ("rules", (pin.name,))
    assert run.pin_counts()[pin.name] > 0
    assert run.unused_pins() == ()


@pytest.mark.parametrize(
    ("pin", "recorded_value", "sent_value"),
    [
        (CACHE_KEY, said("a", prompt_cache_key="x"), said("a")),
        (CACHE_KEY, said("a", prompt_cache_key="x"), said("b", prompt_cache_key="y")),
        (CHUNK, said("Chunk ID: e8297b"), said("Chunk ID: 0a1b2")),
        (CHUNK, said("Chunk ID: e8297b"), said("Chunk: 0a1b2c")),
        (DATE_PIN, said("Today is 2026-11-01."), said("Today is 2026-12-03.")),
        (DATE_PIN, said("Today is 2026-11-01."), said("Today is 2/12/2026.")),
        (DATE_PIN, said("Today is 2026-11-01."), said("Today is tomorrow.")),
        (DATE_PIN, said("Today is sunny."), said("Today is 2026-12-02.")),
    ],
)
def test_what_does_not_have_the_shape_still_diverges(
    pin: Pin,
    recorded_value: JsonValue,
    sent_value: JsonValue,
    matcher: Make[Matcher],
    recorded: Make[Exchange],
    miss: Make[Divergence],
) -> None:
    miss(matcher(recorded(recorded_value), pins=[pin]), sent_value)


def test_only_the_groups_of_a_match_may_differ(
    matcher: Make[Matcher], recorded: Make[Exchange], hit: Make[Hit], miss: Make[Divergence]
) -> None:
    pin = Pin(match=r"from (\w+) to (\w+)", name="trip")
    run = matcher(recorded(said("fly from NBO to LHR today")), pins=[pin])
    miss(run, said("fly from NBO  to LHR today"))
    assert hit(run, said("fly from JFK to CDG today")).rules == ("trip",)
    assert run.pin_counts() == {"trip": 2}


def test_a_pin_that_hides_nothing_is_not_among_the_rules(
    matcher: Make[Matcher], recorded: Make[Exchange], hit: Make[Hit]
) -> None:
    run = matcher(recorded(said("a", prompt_cache_key="x")), pins=[CACHE_KEY, CHUNK])
    found = hit(run, said("a", prompt_cache_key="x"))
    assert (found.equality, found.rules) == ("bytes", ())
    assert run.pin_counts() == {"cache key": 0, "chunk": 0}
    assert run.unused_pins() == ("chunk",)


@pytest.mark.parametrize("at", ["items", "**.items"])
def test_a_list_may_count_as_a_set(
    at: str, matcher: Make[Matcher], recorded: Make[Exchange], hit: Make[Hit], miss: Make[Divergence]
) -> None:
    pin = Pin(at=at, kind="unordered", name="set")
    items: list[JsonValue] = [{"id": 1}, {"id": 2}, {"id": 2}]
    run = matcher(recorded(said("a", items=items)), pins=[pin])
    miss(run, said("a", items=[{"id": 1}, {"id": 1}, {"id": 2}]))
    miss(run, said("a", items=[{"id": 1}, {"id": 2}]))
    assert hit(run, said("a", items=[*reversed(items)])).rules == ("set",)


def test_pins_reach_into_the_items_of_a_set(matcher: Make[Matcher], recorded: Make[Exchange], hit: Make[Hit]) -> None:
    pins = [Pin(at="items", kind="unordered", name="set"), Pin(at="items[*].text", match=r"took (\d+)ms", name="time")]
    run = matcher(
        recorded(
            said("a", items=[{"id": 1, "text": "took 100ms"}, {"id": 2, "text": "took 200ms"}]), {"saw": "200ms? 2000"}
        ),
        pins=pins,
    )
    found = hit(run, said("a", items=[{"id": 2, "text": "took 4000ms"}, {"id": 1, "text": "took 3000ms"}]))
    assert found.rules == ("set", "time")


@pytest.mark.parametrize(("at", "clock_day"), [("2026-12-02T23:59:59+00:00", 2), ("2026-12-03T00:00:01+00:00", 3)])
def test_a_run_may_pass_midnight(
    at: str, clock_day: int, matcher: Make[Matcher], recorded: Make[Exchange], hit: Make[Hit], clock: list[dt.datetime]
) -> None:
    clock[:] = [dt.datetime(2026, 12, 2, 23, 59, 50, tzinfo=dt.UTC)]
    run = matcher(recorded(said("Today is 2026-11-01.")), pins=[DATE_PIN])
    clock.append(dt.datetime.fromisoformat(at))
    hit(run, said(f"Today is 2026-12-0{clock_day}."))


@pytest.mark.parametrize("day", ["2026-12-02", "2026-12-03"])
def test_today_is_local_or_utc(
    day: str, matcher: Make[Matcher], recorded: Make[Exchange], hit: Make[Hit], clock: list[dt.datetime]
) -> None:
    clock[:] = [dt.datetime(2026, 12, 3, 3, tzinfo=dt.timezone(dt.timedelta(hours=9)))]
    hit(matcher(recorded(said("Today is 2026-11-01.")), pins=[DATE_PIN]), said(f"Today is {day}."))


def test_a_bare_date_pin_holds_the_day_of_recording_only(
    matcher: Make[Matcher], recorded: Make[Exchange], hit: Make[Hit], miss: Make[Divergence]
) -> None:
    recording = recorded(said("born 1990-05-05, today 2026-11-01"))
    pin = Pin(kind="date", name="today")
    hit(matcher(recording, pins=[pin], recorded_at="2026-11-01T10:00:00Z"), said("born 1990-05-05, today 2026-12-02"))
    miss(matcher(recording, pins=[pin], recorded_at="2026-11-01T10:00:00Z"), said("born 2026-12-02, today 2026-12-02"))


CWD = Pin(at="messages[*].content", match=r"cwd: (\S+)", kind="path", name="cwd")


def test_a_directory_is_mapped_to_the_runs_own(
    matcher: Make[Matcher], recorded: Make[Exchange], hit: Make[Hit], miss: Make[Divergence]
) -> None:
    run = matcher(recorded(said("cwd: /home/ann/proj")), pins=[CWD], own_directory="/build/w1")
    report = miss(run, said("cwd: /somewhere/else"))
    assert report.notes == (
        "pin 'cwd' does not allow '/somewhere/else': a date must be today, a path the run's own directory",
    )
    assert hit(run, said("cwd: /build/w1")).rules == ("cwd",)


def test_a_bare_path_pin_finds_the_directory_of_each_side(
    matcher: Make[Matcher], recorded: Make[Exchange], hit: Make[Hit], miss: Make[Divergence]
) -> None:
    def run() -> Matcher:
        return matcher(
            recorded(said("in /home/ann/proj: /home/ann/proj/a.txt, not /home/ann/proj-2 or /x/home/ann/proj")),
            pins=[Pin(kind="path", name="dir")],
            own_directory="/build/w1",
            recorded_directory="/home/ann/proj/",
        )

    hit(run(), said("in /build/w1: /build/w1/a.txt, not /home/ann/proj-2 or /x/home/ann/proj"))
    miss(run(), said("in /build/w1: /build/w1/a.txt, not /build/w1-2 or /x/home/ann/proj"))


def test_a_pinned_text_is_known_again_later_and_served_as_the_runs_own(
    matcher: Make[Matcher], recorded: Make[Exchange], hit: Make[Hit], miss: Make[Divergence]
) -> None:
    first, second = said("cwd: /home/ann/proj"), said("cwd: /home/ann/proj", "read /home/ann/proj/a.txt")
    recordings = [
        recorded(first, {"call": "cat /home/ann/proj/a.txt"}),
        recorded(second, {"text": "/home/ann/proj it is"}),
    ]
    run = matcher(*recordings, pins=[CWD], own_directory="/w")
    assert hit(run, said("cwd: /w")).exchange.reply.body == JsonBody({"call": "cat /home/ann/proj/a.txt"})
    run = matcher(*recordings, pins=[CWD], own_directory="/build/w1")
    assert hit(run, said("cwd: /build/w1")).exchange.reply.body == JsonBody({"call": "cat /build/w1/a.txt"})
    miss(run, said("cwd: /build/w1", "read /build/w2/a.txt"))
    found = hit(run, said("cwd: /build/w1", "read /build/w1/a.txt"))
    assert found.rules == (ECHO, "cwd")
    assert found.exchange.reply.body == JsonBody({"text": "/build/w1 it is"})


@pytest.mark.parametrize(
    ("pin", "complaint"),
    [
        (Pin(name="p"), "pins everything; say where with `at`, or what with `match`"),
        (Pin(name="p", kind="unordered"), "pins everything"),
        (Pin(name="p", at="a..b"), "at: 'a..b': a dot or a bracket is missing at column 2"),
        (Pin(name="p", match="("), "match: '\\(' is no regular expression"),
        (Pin(name="p", at="a", match="x", kind="unordered"), "takes no `match`"),
    ],
)
def test_a_pin_that_cannot_be_used_is_refused_by_name(pin: Pin, complaint: str) -> None:
    with pytest.raises(PinError, match=f"pin 'p'.*{complaint}"):
        Rules([pin])


@pytest.mark.parametrize(
    "sent_value",
    [
        said("Today is 2024-01-01.", "Today is 2026-11-01."),
        said("Today is 2024-01-01.", "Today is 2026-12-02."),
        said("Today is 2026-12-02.", "Today is 2026-12-02."),
    ],
)
def test_a_date_that_did_not_change_needs_no_pin(
    sent_value: JsonValue, matcher: Make[Matcher], recorded: Make[Exchange], hit: Make[Hit]
) -> None:
    hit(matcher(recorded(said("Today is 2024-01-01.", "Today is 2026-11-01.")), pins=[DATE_PIN]), sent_value)


def test_dates_cannot_change_places(matcher: Make[Matcher], recorded: Make[Exchange], miss: Make[Divergence]) -> None:
    recording = recorded(said("Today is 2024-01-01.", "Today is 2026-11-01."))
    report = miss(matcher(recording, pins=[DATE_PIN]), said("Today is 2026-11-01.", "Today is 2026-12-02."))
    assert [found.path for found in report.differences] == ["messages[0].content", "messages[1].content"]


PINS = [
    DATE_PIN,
    CACHE_KEY,
    CHUNK,
    Pin(kind="date", name="any date"),
    Pin(kind="path", name="dir"),
    Pin(at="messages[*].content", match=r"cwd: (\S+)", kind="path", name="cwd"),
    Pin(at="messages", kind="unordered", name="set"),
    Pin(at="**.content", name="all"),
]
TEXTS = ["Today is 2026-11-01.", "Today is 2026-12-02.", "Chunk ID: e8297b", "cwd: /a/b", "in /old/dir", "plain"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.sampled_from(PINS), max_size=4), st.lists(st.lists(st.sampled_from(TEXTS), max_size=4), max_size=4))
def test_a_recorded_request_answers_itself_under_any_pins(
    matcher: Make[Matcher], recorded: Make[Exchange], hit: Make[Hit], pins: list[Pin], bodies: list[list[str]]
) -> None:
    values = [said(*texts) for texts in bodies]
    run = matcher(
        *map(recorded, values),
        pins=pins,
        own_directory="/build/w1",
        recorded_directory="/old/dir",
        recorded_at="2026-11-01T10:00:00Z",
    )
    for value in values:
        hit(run, value)
    assert run.unserved() == ()


def test_marks_are_shown_by_name() -> None:
    rules = Rules([DATE_PIN])
    marked = rules.marked(said("Today is 2026-11-01."))
    assert isinstance(marked, dict) and isinstance(marked["messages"], list)
    message = marked["messages"][0]
    assert isinstance(message, dict) and isinstance(message["content"], str)
    assert unmarked(message["content"]) == "Today is <date>."


# The rules that real agents were found to need (and no others)


def test_codex_needs_ids_and_timings_of_every_tool_result(
    matcher: Make[Matcher], recorded: Make[Exchange], sent: Make[object], hit: Make[Hit]
) -> None:
    pins = [
        Pin(at="prompt_cache_key", name="prompt_cache_key"),
        Pin(at="client_metadata", name="client_metadata"),
        Pin(
            at="input[*].id",
            match=r"^(?:msg|fco)_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
            name="ids",
        ),
        Pin(at="input[*].output", match=r"Chunk ID: ([0-9a-f]{6})\nWall time: ([0-9.]+) seconds", name="timing"),
    ]

    def asked(run: int, outputs: int) -> JsonValue:
        def item(number: int) -> JsonValue:
            return {
                "type": "function_call_output",
                "call_id": f"call_{number}",
                "id": "fco_" + UUID.format(run + number),
                "output": f"Chunk ID: {run}{number}29{run}b\nWall time: 0.{run}{number}86 seconds\nok",
            }

        return {
            "model": "gpt-5",
            "prompt_cache_key": UUID.format(run),
            "client_metadata": {"turn": UUID.format(run), "meta": f'{{"at":{run}}}'},
            "input": [{"type": "message", "id": "msg_" + UUID.format(run)}, *map(item, range(outputs))],
        }

    recordings = [recorded(asked(1, count), path="/v1/responses") for count in range(4)]
    run = matcher(*recordings, pins=pins)
    for count in range(4):
        assert hit(run, sent(asked(5, count), path="/v1/responses")).index == count
    assert all(run.pin_counts().values())


def test_claude_code_needs_its_user_id_and_the_date(
    matcher: Make[Matcher], recorded: Make[Exchange], sent: Make[object], hit: Make[Hit]
) -> None:
    pins = [
        Pin(at="metadata.user_id", name="user id"),
        Pin(at="messages[*].content", match=r"Today's date is ([0-9-]+)", kind="date", name="date"),
    ]

    def asked(session: str, day: str) -> JsonValue:
        return {
            "model": "claude",
            "metadata": {"user_id": f'{{"device_id":"{session * 8}","session_id":"{session}"}}'},
            "messages": [{"role": "user", "content": [{"type": "text", "text": f"Today's date is {day}."}]}],
        }

    path = "/v1/messages?beta=true"
    run = matcher(recorded(asked("f832e1", "2026-11-01"), path=path), pins=pins)
    assert hit(run, sent(asked("518c3d", "2026-12-02"), path=path)).rules == ("user id", "date")


def test_a_number_of_reminders_may_vary_and_what_the_user_said_may_not(
    matcher: Make[Matcher], recorded: Make[Exchange], hit: Make[Hit], miss: Make[Divergence]
) -> None:
    """One form from the first to the last; blocks of their own may vary as a whole list only."""
    pin = Pin(at="messages[*].content", match=r"(?s)(<r>.*</r>)", name="reminders")
    run = matcher(recorded(said("<r>brief</r>\nHello!")), pins=[pin])
    miss(run, said("<r>brief</r>\n<r>late</r>\nBye!"))
    miss(run, said("Hello!"))
    assert hit(run, said("<r>brief</r>\n<r>late</r>\nHello!")).rules == ("reminders",)

    blocks: list[JsonValue] = [{"type": "text", "text": f"<r>{n}</r>"} for n in range(3)]
    whole = Pin(at="messages[0].content", name="first message")
    run = matcher(recorded({"messages": [{"role": "user", "content": blocks[:1]}]}), pins=[whole])
    assert hit(run, {"messages": [{"role": "user", "content": blocks}]}).rules == ("first message",)
