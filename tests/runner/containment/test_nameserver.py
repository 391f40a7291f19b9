"""The name server's answers, as bytes."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowproof_runner.containment import nameserver
from flowproof_runner.containment.nameserver import AAAA, PTR, A, Names, Question

DECLARED = {"api.example.com": ("198.51.100.7", "2001:db8::7"), "lost.example.com": ()}
NAMES = Names(DECLARED, ("corp.example", "lab"), "Builder.corp.example")


def query(name: str, kind: int = A, id: int = 0x1234) -> bytes:
    labels = b"".join(bytes([len(part)]) + part.encode() for part in name.split("."))
    return struct.pack("!6H", id, 0x0100, 1, 0, 0, 0) + labels + b"\0" + struct.pack("!HH", kind, 1)


def asked(name: str, kind: int = A) -> Question:
    question = nameserver.parse(query(name, kind))
    assert question
    return question


def test_a_question_is_read_without_regard_to_case() -> None:
    question = asked("API.Example.com", AAAA)
    assert (question.id, question.name, question.type_name) == (0x1234, "api.example.com", "AAAA")


@pytest.mark.parametrize(
    ("kind", "count", "tail"),
    [(A, 1, bytes([198, 51, 100, 7])), (AAAA, 1, b"\x20\x01\x0d\xb8" + bytes(11) + b"\7"), (16, 0, b"")],
)
def test_a_declared_name_is_answered_with_the_addresses_of_the_asked_kind(kind: int, count: int, tail: bytes) -> None:
    answer = nameserver.reply(asked("api.example.com", kind), DECLARED["api.example.com"])
    assert struct.unpack("!6H", answer[:12]) == (0x1234, 0x8180, 1, count, 0, 0)
    assert answer.endswith(tail) and len(answer) < 512


def test_any_other_name_does_not_exist() -> None:
    answer = nameserver.reply(asked("evil.example"), NAMES.addresses("evil.example"))
    assert struct.unpack("!6H", answer[:12]) == (0x1234, 0x8183, 1, 0, 0, 0)


def test_many_addresses_still_fit_a_datagram() -> None:
    many = tuple(f"2001:db8::{n:x}" for n in range(200)) + tuple(f"198.51.100.{n}" for n in range(200))
    assert len(nameserver.reply(asked("x" * 60 + ".example", A), many)) <= 512


@pytest.mark.parametrize(
    ("name", "addresses", "declared"),
    [
        ("api.example.com", ("198.51.100.7", "2001:db8::7"), True),
        ("api.example.com.corp.example", None, True),
        ("lost.example.com", (), True),
        ("localhost", ("127.0.0.1", "::1"), True),
        ("db.localhost", ("127.0.0.1", "::1"), True),
        ("evil.example.com", None, False),
        ("example.com", None, False),
        ("notapi.example.com", None, False),
        ("secret.api.example.com", None, False),
    ],
)
def test_a_name_is_declared_or_not(name: str, addresses: tuple[str, ...] | None, declared: bool) -> None:
    assert (NAMES.addresses(name), NAMES.declared(name)) == (addresses, declared)


@pytest.mark.parametrize(
    ("name", "kind", "harmless"),
    [
        ("builder", A, True),
        ("builder.corp.example", AAAA, True),
        ("1.0.0.127.in-addr.arpa", PTR, True),
        ("1." + "0." * 31 + "ip6.arpa", PTR, True),
        ("9.100.51.198.in-addr.arpa", PTR, False),
        ("evil.example", A, False),
        ("builder.evil.example", A, False),
    ],
)
def test_asking_for_oneself_is_harmless(name: str, kind: int, harmless: bool) -> None:
    assert NAMES.harmless(asked(name, kind)) is harmless


def test_a_search_domain_is_no_part_of_the_name_that_is_shown() -> None:
    assert NAMES.plain("evil.example.corp.example") == "evil.example"
    assert NAMES.plain("evil.example") == "evil.example"


@pytest.mark.parametrize(
    "message", [b"", bytes(12), query("x")[:-1], query("x")[:14], b"\x12\x34\x81\x80" + query("x")[4:]]
)
def test_what_is_no_question_is_none(message: bytes) -> None:
    assert nameserver.parse(message) is None


@given(st.binary(max_size=80))
def test_no_bytes_make_the_parser_fail(message: bytes) -> None:
    for head in (b"", b"\x12\x34\1\0\0\1\0\0\0\0\0\0"):
        question = nameserver.parse(head + message)
        assert question is None or nameserver.reply(question, ())[:2] == (head + message)[:2]
