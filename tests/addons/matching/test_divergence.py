"""What a diverging run's user reads."""

from collections.abc import Callable

import pytest
import yaml

from flowproof_addons.matching.divergence import Divergence
from flowproof_addons.matching.matcher import Hit, Matcher
from flowproof_addons.session import Pin
from flowproof_addons.trace.json_value import compact
from flowproof_addons.trace.model import Exchange, JsonValue, Request

type Make[T] = Callable[..., T]

SYSTEM = "You are a travel assistant. Today is {day}. Answer in one sentence, and never book anything unasked."
SEARCH: JsonValue = {"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}
VISA: JsonValue = {"type": "function", "function": {"name": "check_visa", "parameters": {"type": "object"}}}


def asked(
    *more: JsonValue,
    day: str = "2026-12-01",
    model: str = "gpt-5",
    tools: tuple[JsonValue, ...] = (SEARCH,),
    **members: JsonValue,
) -> JsonValue:
    told: list[JsonValue] = [
        {"role": "system", "content": SYSTEM.format(day=day)},
        {"role": "user", "content": "Book me a flight to Nairobi"},
        *more,
    ]
    return {"model": model, "messages": told, "tools": [*tools], **members}


def report(found: Divergence) -> str:
    return "\n".join(found.lines())


@pytest.fixture
def reported(matcher: Make[Matcher], recorded: Make[Exchange], miss: Make[Divergence]) -> Callable[..., str]:
    def tell(*recordings: JsonValue, sent: Request | JsonValue, pins: tuple[Pin, ...] = ()) -> str:
        return report(miss(matcher(*map(recorded, recordings), pins=pins), sent))

    return tell


def test_another_day(reported: Make[str]) -> None:
    assert reported(asked(), sent=asked(day="2026-12-02")) == (
        "turn 1: system prompt changed: messages[0].content differs (two dates)\n"
        "  compared with recorded turn 1, the nearest to POST /v1/chat/completions\n"
        "  system prompt changed\n"
        "  messages[0].content differs (two dates)\n"
        "    recorded: You are a travel assistant. Today is 2026-12-01. Answer in one sent…\n"
        "    sent:     You are a travel assistant. Today is 2026-12-02. Answer in one sent…\n"
        "                                                   ^^^^^^^^^^\n"
        "  If this may differ from run to run, pin it in the spec:\n"
        "    pins:\n"
        "      - at: messages[*].content\n"
        "        match: 'Today is (\\d{4}-\\d\\d-\\d\\d)'\n"
        "        kind: date\n"
        "        why: two dates ...\n"
        "  If the change is meant, record the flow again; if not, the agent has changed."
    )


def test_another_model_and_another_tool(reported: Make[str]) -> None:
    assert reported(asked(), sent=asked(model="gpt-5-mini", tools=(SEARCH, VISA))) == (
        "turn 1: model changed: gpt-5 -> gpt-5-mini\n"
        "  compared with recorded turn 1, the nearest to POST /v1/chat/completions\n"
        "  model changed: gpt-5 -> gpt-5-mini\n"
        "  tools offered changed: +check_visa\n"
        '  tools[1] is new: {"type":"function","function":{"name":"check_visa","parameters":{"type":"object"}}}\n'
        "  If the change is meant, record the flow again; if not, the agent has changed."
    )


def test_another_argument(reported: Make[str]) -> None:
    def call(arguments: str) -> JsonValue:
        return {
            "role": "assistant",
            "tool_calls": [{"id": "c", "type": "function", "function": {"name": "search", "arguments": arguments}}],
        }

    assert reported(asked(call('{"to":"NBO","n":1}')), sent=asked(call('{"to":"LHR","n":1}'))) == (
        "turn 1: messages[2].tool_calls[0].function.arguments → to differs (different text)\n"
        "  compared with recorded turn 1, the nearest to POST /v1/chat/completions\n"
        "  messages[2].tool_calls[0].function.arguments → to differs (different text)\n"
        "    recorded: NBO\n"
        "    sent:     LHR\n"
        "              ^^^\n"
        "  If the change is meant, record the flow again; if not, the agent has changed."
    )


def test_a_new_client(reported: Make[str], sent: Make[Request]) -> None:
    told = reported(asked(), sent=sent(asked(service_tier="auto"), agent="sdk/2"))
    assert told.split("\n")[:4] == [
        'turn 1: client version changed: sdk/1 -> sdk/2; service_tier is new: "auto"',
        "  compared with recorded turn 1, the nearest to POST /v1/chat/completions",
        "  client version changed: sdk/1 -> sdk/2",
        '  service_tier is new: "auto"',
    ]


def test_a_cache_mark(reported: Make[str]) -> None:
    plain: JsonValue = {"role": "tool", "content": [{"type": "text", "text": "x"}]}
    marked: JsonValue = {
        "role": "tool",
        "content": [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}],
    }
    assert reported(asked(plain), sent=asked(marked)).split("\n")[0] == (
        "turn 1: cache_control was added at messages[2].content[0]"
    )


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ((), ({"role": "user", "content": "more"},), "conversation changed: 1 more after item 2: user"),
        (({"role": "user", "content": "more"},), (), "conversation changed: 1 missing after item 2: user"),
        (
            ({"role": "user", "content": "a"}, {"role": "user", "content": "b"}),
            ({"role": "assistant", "content": "a"},),
            "conversation changed: item 3 is assistant, was user (4 items recorded, 3 sent)",
        ),
    ],
)
def test_another_course_of_the_conversation(
    old: tuple[JsonValue, ...], new: tuple[JsonValue, ...], line: str, reported: Make[str]
) -> None:
    assert reported(asked(*old), sent=asked(*new)).split("\n")[0] == f"turn 1: {line}"


def test_tools_in_another_order_or_fewer(reported: Make[str]) -> None:
    first = reported(asked(tools=(SEARCH, VISA)), sent=asked(tools=(VISA, SEARCH)))
    assert first.startswith("turn 1: tools are offered in another order\n")
    assert reported(asked(tools=(SEARCH, VISA)), sent=asked(tools=(VISA,))).startswith(
        "turn 1: tools offered changed: -search\n"
    )


def test_another_path_and_dialect(
    matcher: Make[Matcher], recorded: Make[Exchange], sent: Make[Request], miss: Make[Divergence]
) -> None:
    found = miss(matcher(recorded(asked())), sent(asked(), path="/v1/messages"))
    assert found.envelope[:2] == (
        "dialect changed: openai-chat -> anthropic-messages",
        "path changed: /v1/chat/completions -> /v1/messages",
    )


def test_the_nearest_recording_is_of_the_same_conversation(
    matcher: Make[Matcher], recorded: Make[Exchange], hit: Make[Hit], miss: Make[Divergence]
) -> None:
    title: JsonValue = {"model": "gpt-5-mini", "messages": [{"role": "user", "content": "Name this chat"}]}
    more: list[JsonValue] = [{"role": "user", "content": f"question {n}"} for n in range(6)]
    run = matcher(recorded(title), *(recorded(asked(*more[:n])) for n in range(6)))
    found = miss(run, asked(*more[:3], day="2026-12-02"))
    assert (found.nearest, found.nearest_name) == (4, "recorded turn 5")
    hit(run, asked(*more[:3]))
    assert miss(run, asked(*more[:3], day="2026-12-02")).nearest != 4


def test_nothing_recorded_at_all(matcher: Make[Matcher], miss: Make[Divergence]) -> None:
    assert report(miss(matcher(), asked())) == (
        "turn 1: nothing is recorded for POST /v1/chat/completions\n"
        "  The cassette holds no request like it; if it is meant, record the flow again."
    )


def test_what_was_answered_already(
    matcher: Make[Matcher], recorded: Make[Exchange], hit: Make[Hit], miss: Make[Divergence]
) -> None:
    run = matcher(recorded(asked()))
    hit(run, asked())
    assert report(miss(run, asked())) == (
        "turn 2: the same request was answered already by recorded turn 1, which is used up\n"
        "  Each recording answers once, and the agent sent this again: look for a loop, a retry, or a lost reply."
    )


def test_many_differences_are_counted_not_listed(reported: Make[str]) -> None:
    told = reported(
        asked(numbers={f"k{n}": n for n in range(9)}), sent=asked(numbers={f"k{n}": n + 1 for n in range(9)})
    )
    assert told.count(" differs (") == 4
    assert "  and 6 more" in told


@pytest.mark.parametrize("turn", [0, 3])
def test_one_cause_has_one_key_in_every_turn(
    turn: int, matcher: Make[Matcher], recorded: Make[Exchange], miss: Make[Divergence]
) -> None:
    def cause(count: int, day: str, recorded_day: str = "2026-12-01") -> str:
        more: list[JsonValue] = [{"role": "user", "content": "more"}] * count
        return miss(matcher(recorded(asked(*more, day=recorded_day))), asked(*more, day=day)).cause

    assert cause(turn, "2026-12-02") == cause(1, "2026-12-02")
    assert cause(turn, "2026-12-02") != cause(turn, "2026-12-03")


def test_a_report_holds_what_a_finding_needs(
    matcher: Make[Matcher], recorded: Make[Exchange], miss: Make[Divergence]
) -> None:
    told = miss(matcher(recorded(asked(n=1))), asked(n=2)).to_json()
    assert (told["message"], told["path"], told["recorded"], told["received"]) == (
        "turn 1: n differs (different number)",
        "n",
        "1",
        "2",
    )
    assert compact(told)


def test_a_suggested_pin_cures_what_it_was_suggested_for(
    matcher: Make[Matcher], recorded: Make[Exchange], miss: Make[Divergence], hit: Make[Hit]
) -> None:
    for old, new in [
        ("Today is 2026-11-30, ok", "Today is 2026-12-02, ok"),
        ("Chunk ID: e8297b done (took 1.5s)", "Chunk ID: 0a1b2c done (took 1.5s)"),
        ("518c3dd0-1111-4222-8333-444455556666", "0197dc3d-2f63-7a2e-9a3b-3c1a5d0f6b1c"),
        ("it's [now] 10:31:02 (local)", "it's [now] 11:59:00 (local)"),
        ("on Tue Dec 01 2026.", "on Wed Dec 02 2026."),
        (
            '{"ok": true, "request_id": "518c3dd0-1111-4222-8333-444455556666"}',
            '{"ok": true, "request_id": "0197dc3d-2f63-7a2e-9a3b-3c1a5d0f6b1c"}',
        ),
        ('{"took":12.5,"note":"12.5 apples"}', '{"took":31,"note":"12.5 apples"}'),
        (
            '[{"at": "2026-12-01T10:00:00Z"}, {"at": "2026-12-01T10:00:01Z"}]',
            '[{"at": "2026-12-02T11:00:00Z"}, {"at": "2026-12-02T11:00:01Z"}]',
        ),
        ('{"said": "He said \\"no\\" at 10:31:02"}', '{"said": "He said \\"no\\" at 11:31:02"}'),
        ('{"é": "grün: 10:31:02"}', '{"é": "grün: 11:31:02"}'),
        ('["518c3dd0-1111-4222-8333-444455556666"]', '["0197dc3d-2f63-7a2e-9a3b-3c1a5d0f6b1c"]'),
        (
            '{"body": "{\\"id\\": \\"518c3dd0-1111-4222-8333-444455556666\\"}"}',
            '{"body": "{\\"id\\": \\"0197dc3d-2f63-7a2e-9a3b-3c1a5d0f6b1c\\"}"}',
        ),
    ]:
        recording = recorded(asked({"role": "user", "content": old}))
        live = asked({"role": "user", "content": new})
        found = miss(matcher(recording), live)
        (pin,) = yaml.safe_load("\n".join(found.pin))["pins"]
        assert hit(matcher(recording, pins=[Pin(**pin)]), live).equality == "rules", found.pin


def test_a_pin_for_a_value_in_json_text_finds_that_value_only(
    matcher: Make[Matcher], recorded: Make[Exchange], miss: Make[Divergence]
) -> None:
    """The number of the key that varies, wherever it stands; other numbers still count, and no key: no pin."""
    old, new, other = ('{"took": %d, "left": %d}' % pair for pair in ((5, 3), (7, 3), (7, 4)))  # noqa: UP031  # braces
    said = [asked({"role": "user", "content": text}) for text in (old, new, other, "[5, 3]", "[7, 3]")]
    recording = recorded(said[0])
    (pin,) = yaml.safe_load("\n".join(miss(matcher(recording), said[1]).pin))["pins"]
    assert pin["match"] == r'"took":\s*(-?\d+(?:\.\d+)?(?:[a-zA-Z%]{1,3})?)'
    (left,) = miss(matcher(recording, pins=[Pin(**pin)]), said[2]).differences
    assert left.sent is not None and left.sent.text[left.sent.start : left.sent.end] == "4"
    assert miss(matcher(recorded(said[3])), said[4]).pin == ()


def test_what_varies_in_a_tools_result_has_a_better_cure(reported: Make[str]) -> None:
    def told(result: str) -> JsonValue:
        call: JsonValue = {"id": "c", "type": "function", "function": {"name": "search", "arguments": "{}"}}
        return asked(
            {"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": "c", "content": result}
        )

    cure = "note: search returned this: give its result under `tools:`"
    assert cure in reported(told('{"at": "10:31:02"}'), sent=told('{"at": "11:31:02"}'))
    assert cure not in reported(told('{"to": "Nairobi"}'), sent=told('{"to": "Lagos"}'))
    assert cure not in reported(asked(), sent=asked(day="2026-12-02"))


def test_an_edited_sentence_gets_no_pin(
    matcher: Make[Matcher], recorded: Make[Exchange], miss: Make[Divergence]
) -> None:
    found = miss(
        matcher(recorded(asked({"role": "user", "content": "be quick"}))),
        asked({"role": "user", "content": "be careful"}),
    )
    assert found.pin == ()
