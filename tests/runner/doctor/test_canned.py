"""The stand-in model's answers are whole replies of their API, streamed or not."""

from __future__ import annotations

import json

import pytest

from flowproof_addons.dialects import framing
from flowproof_addons.dialects.registry import default
from flowproof_addons.trace import body
from flowproof_addons.trace.model import Request
from flowproof_runner.doctor.canned import TEXT, answer

TURNS = {
    "openai-chat": ("/v1/chat/completions", {"stream": True}, ""),
    "openai-responses": ("/via-OPENAI_BASE_URL/v1/responses", {"stream": True}, ""),
    "anthropic-messages": ("/messages", {"stream": True}, ""),
    "gemini": ("/v1beta/models/m:streamGenerateContent", {}, "?alt=sse"),
    "ollama-chat": ("/api/chat", {"stream": True}, ""),
}


def request(path: str, asked: object) -> Request:
    return body.request("POST", path, {"content-type": "application/json"}, json.dumps(asked).encode())


@pytest.mark.parametrize("name", TURNS)
def test_a_streamed_answer_says_the_words(name: str) -> None:
    path, asked, query = TURNS[name]
    dialect = default().named(name)
    assert dialect is not None
    reply = answer(request(path + query, {"model": "m", **asked}), default())
    assert reply.status == 200
    framed = framing.of(dialect.framing)
    read = dialect.read_reply(dialect.assemble(framed.events(framed.split(reply.body))))
    assert (read.text, read.calls) == (TEXT, ())


@pytest.mark.parametrize("name", TURNS)
def test_an_answer_in_one_piece_says_the_words(name: str) -> None:
    dialect = default().named(name)
    assert dialect is not None
    path = TURNS[name][0].replace("streamGenerateContent", "generateContent")
    reply = answer(request(path, {"model": "m", "stream": False}), default())
    assert dialect.read_reply(json.loads(reply.body)).text == TEXT


def test_every_registered_dialect_of_ours_has_an_answer() -> None:
    assert {dialect.name for dialect in default().dialects} == TURNS.keys()


def test_sdks_find_the_models_they_look_for_and_nothing_else() -> None:
    assert answer(Request("GET", "/v1/models", "", body.read(b"", "")), default()).status == 200
    assert answer(Request("GET", "/v1/files", "", body.read(b"", "")), default()).status == 404
