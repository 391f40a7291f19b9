"""Secrets never reach the disk, the agent always gets them."""

import base64
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowproof_addons.trace.model import (
    Attempt,
    BytesBody,
    Exchange,
    JsonBody,
    JsonValue,
    MultipartBody,
    Part,
    Reply,
    Request,
)
from flowproof_addons.trace.redact import Redactor
from flowproof_addons.trace.spelling import SPELLINGS

SECRET = 'hunter"22/é'
KEY = "sk-proj-aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z"


@pytest.fixture
def redactor() -> Redactor:
    return Redactor({"DB": SECRET, "TOKEN": "tok_123456"}, ["password"])


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        (f"the password is {SECRET}.", "the password is ${DB}."),
        (json.dumps({"arg": SECRET}, ensure_ascii=False), '{"arg": "${DB:json}"}'),
        (json.dumps({"arg": SECRET}), '{"arg": "${DB:json-ascii}"}'),
        (f"https://h/?p={quote(SECRET, safe='')}&x=1", "https://h/?p=${DB:url}&x=1"),
        ("Basic " + base64.b64encode(f"u:{SECRET}".encode()).decode(), "Basic dTp${DB:base64-2}k="),
        (SECRET.encode().hex(), "${DB:hex}"),
        ("tok_123456 tok_123456", "${TOKEN} ${TOKEN}"),
        ("tok_1234567", "${TOKEN}7"),
        ("${HOME} ${OTHER} $DB {DB} ${DB", "${HOME} ${OTHER} $DB {DB} ${DB"),
        ("write ${DB} or $${DB}", "write $${DB} or $$$${DB}"),
        ("$tok_123456 $$tok_123456", "$$${TOKEN} $$$$${TOKEN}"),
        (f"key {KEY}", "key ${REDACTED:openai}"),
        ('{"password": "a\\"b", "x": 1}', '{"password": "${REDACTED:password}", "x": 1}'),
        ('{\\"PassWord\\": \\"abc\\", \\"n\\": 1}', '{\\"PassWord\\": \\"${REDACTED:PassWord}\\", \\"n\\": 1}'),
        ('{"password": 1234}', '{"password": "${REDACTED:password}"}'),
    ],
)
def test_what_is_written_for_a_text(redactor: Redactor, text: str, hidden: str) -> None:
    assert redactor.hide(text) == hidden


@given(
    st.lists(st.sampled_from([SECRET, "tok_123456", "${DB}", "${TOKEN:hex}", "$", "$$", "{DB}", "}", "${", "x", "é"]))
)
def test_what_is_revealed_is_what_was_hidden(words: list[str]) -> None:
    redactor = Redactor({"DB": SECRET, "TOKEN": "tok_123456"})
    text = "".join(words)
    assert redactor.reveal(redactor.hide(text)) == text


@given(st.sampled_from(["{}", '{{"a": "{}"}}', "user:{}", "a{}b"]), st.sampled_from(["", "json-ascii", "url", "hex"]))
def test_every_spelling_is_revealed_with_the_value_of_today(frame: str, spelling: str) -> None:
    spell = SPELLINGS[spelling]
    hidden = Redactor({"DB": SECRET}).hide(frame.format(spell(SECRET)))
    assert SECRET not in hidden and spell(SECRET) not in hidden
    assert Redactor({"DB": "new/värde"}).reveal(hidden) == frame.format(spell("new/värde"))


def test_hits_name_what_was_found(redactor: Redactor) -> None:
    redactor.hide({"a": ["nothing", {"b": "tok_123456"}]})
    assert redactor.hits == {"TOKEN"}


def test_a_value_without_secrets_stays_the_very_same_object(redactor: Redactor) -> None:
    value: JsonValue = {"a": [{"b": "plain"}, 1], "c": None}
    assert redactor.hide(value) is value
    assert redactor.hide(value) is value
    assert redactor.reveal(value) is value


def test_only_what_changes_is_copied(redactor: Redactor) -> None:
    clean: JsonValue = {"b": "plain"}
    value: JsonValue = [clean, {"c": SECRET}]
    hidden = redactor.hide(value)
    assert hidden == [clean, {"c": "${DB}"}]
    assert isinstance(hidden, list) and hidden[0] is clean
    assert value == [clean, {"c": SECRET}]


def test_members_by_name_in_any_case_and_depth(redactor: Redactor) -> None:
    assert redactor.hide({"a": [{"Password": "x", "p": 1}], "password": None}) == {
        "a": [{"Password": "${REDACTED:Password}", "p": 1}],
        "password": None,
    }


def test_keys_may_hold_secrets_too(redactor: Redactor) -> None:
    assert redactor.hide({"tok_123456": 1}) == {"${TOKEN}": 1}


@pytest.mark.parametrize(
    "value",
    [
        {"type": "thinking", "signature": KEY},
        {"thoughtSignature": KEY},
        {"encrypted_content": KEY},
        {"type": "redacted_thinking", "data": KEY},
        {"type": "reasoning.encrypted", "data": KEY},
        {"type": "web_search_result", "encrypted_content": KEY, "encrypted_index": "tok_123456"},
        {"redactedContent": KEY},
    ],
)
def test_what_a_provider_checks_byte_for_byte_is_never_touched(redactor: Redactor, value: JsonValue) -> None:
    assert redactor.hide(value) is value
    streamed = tuple(b"data: " + json.dumps({"delta": piece}).encode() + b"\n\n" for piece in (value, {"text": "x"}))
    assert redactor.hide_reply(Reply(200, BytesBody(b""), frames=streamed)).frames == streamed


def test_the_same_text_elsewhere_is_hidden(redactor: Redactor) -> None:
    assert redactor.hide({"type": "text", "data": KEY}) == {"type": "text", "data": "${REDACTED:openai}"}


def test_bytes_that_are_no_text_are_searched_too(redactor: Redactor) -> None:
    assert redactor.hide(b"\xfftok_123456\x00") == b"\xff${TOKEN}\x00"


def test_short_values_are_named_and_not_hidden() -> None:
    redactor = Redactor({"SHORT": "test", "EMPTY": ""})
    assert redactor.hide("a test") == "a test"
    assert redactor.too_short == ("SHORT",)


def test_of_two_secrets_the_longer_one_is_hidden() -> None:
    redactor = Redactor({"A": "secret", "B": "secret-long"})
    assert redactor.hide("secret-long secret") == "${B} ${A}"


def test_an_exchange_is_hidden_everywhere(redactor: Redactor) -> None:
    hidden = redactor.hide_exchange(
        Exchange(
            Request(
                "POST",
                "/tok_123456/x",
                "key=AIza&q=tok_123456&password=p&a",
                JsonBody({"m": SECRET}),
                {"user-agent": "tok_123456", "authorization": "Bearer x"},
            ),
            Reply(200, JsonBody({"m": SECRET}, json.dumps({"m": SECRET})), {"x-id": "tok_123456"}),
            attempts=(Attempt(429, {"x": "tok_123456"}, BytesBody(b"tok_123456")),),
            divergence={"sent": SECRET},
        )
    )
    assert hidden == Exchange(
        Request(
            "POST",
            "/${TOKEN}/x",
            "key=${REDACTED:key}&q=${TOKEN}&password=${REDACTED:password}&a",
            JsonBody({"m": "${DB}"}),
            {"user-agent": "${TOKEN}", "authorization": "${REDACTED:authorization}"},
        ),
        Reply(200, JsonBody({"m": "${DB}"}, '{"m": "${DB}"}'), {"x-id": "${TOKEN}"}),
        attempts=(Attempt(429, {"x": "${TOKEN}"}, BytesBody(b"${TOKEN}")),),
        divergence={"sent": "${DB}"},
    )


def test_form_parts_are_hidden_by_name_and_by_value(redactor: Redactor) -> None:
    body = MultipartBody(
        (
            Part((("content-disposition", 'form-data; name="password"'),), b"abc"),
            Part((("content-disposition", 'form-data; name="x"'),), b"tok_123456"),
        )
    )
    hidden = redactor.hide_request(Request("POST", "/", "", body)).body
    assert isinstance(hidden, MultipartBody)
    assert [part.data for part in hidden.parts] == [b"${REDACTED:password}", b"${TOKEN}"]


def frames(*tokens: str) -> tuple[bytes, ...]:
    told = (b"data: " + json.dumps({"delta": token}).encode() + b"\n\n" for token in tokens)
    return (*told, b"data: [DONE]\n\n")


def test_a_secret_that_a_stream_brings_in_pieces_is_hidden_and_served_whole(redactor: Redactor) -> None:
    reply = Reply(200, BytesBody(b""), frames=frames("it is t", "ok_12", "3456", ", bye"))
    hidden = redactor.hide_reply(reply)
    assert hidden.frames == frames("it is ${TOKEN}", "", "", ", bye")
    assert redactor.reveal_reply(hidden).frames == frames("it is tok_123456", "", "", ", bye")


def test_a_stream_without_secrets_keeps_its_bytes(redactor: Redactor) -> None:
    odd = (b'data:{"a" :1}\n\n', b"\xff", *frames("a", "b"))
    reply = Reply(200, BytesBody(b""), frames=odd)
    assert redactor.hide_reply(reply).frames == odd


def test_a_reply_from_a_cassette_is_taken_as_it_is_while_it_is_served_unchanged(redactor: Redactor) -> None:
    recorded = Reply(200, JsonBody({"a": "${TOKEN} $${DB}"}), frames=frames("x"))
    redactor.trust(recorded)
    assert redactor.hide_reply(recorded) is recorded
    served = redactor.reveal_reply(recorded)
    assert served.body == JsonBody({"a": "tok_123456 ${DB}"})
    assert redactor.hide_reply(served) == recorded


def test_redacted_members_of_streamed_arguments(redactor: Redactor) -> None:
    reply = Reply(200, BytesBody(b""), frames=frames('{"pass', 'word": "a', 'bc", "n"', ": 1}"))
    assert redactor.hide_reply(reply).frames == frames('{"pass', 'word": "${REDACTED:password}"', ', "n"', ": 1}")
