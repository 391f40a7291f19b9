"""The stand-in model's answers are whole replies of their API, streamed or not."""

from __future__ import annotations

import base64
import json
import struct
from typing import Any

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


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/v1/models", 200),
        ("/api/tags", 200),
        ("/v1/messages/count_tokens", 200),
        ("/v1beta/models/m:countTokens", 200),
        ("/v1beta/models/m:embedContent", 200),
        ("/v1/files", 404),
        ("/v1beta/models/m:cancel", 404),
    ],
)
def test_sdks_find_what_they_look_for_and_nothing_else(path: str, found: int) -> None:
    assert answer(Request("GET", path, "", body.read(b"", "")), default()).status == found


def test_each_text_is_embedded_in_the_form_that_is_asked_for() -> None:
    def embedded(**asked: object) -> list[Any]:
        reply = answer(request("/v1/embeddings", {"model": "m", **asked}), default())
        return [one["embedding"] for one in json.loads(reply.body)["data"]]

    assert embedded(input="a") == embedded(input=[1, 2, 3]) == [[0.5] * 4]
    assert embedded(input=["a", "b"]) == [[0.5] * 4] * 2
    [packed] = embedded(input="a", encoding_format="base64")
    assert struct.unpack("<4f", base64.b64decode(packed)) == (0.5,) * 4
    ollama = answer(request("/api/embed", {"model": "m", "input": ["a", "b"]}), default())
    assert json.loads(ollama.body)["embeddings"] == [[0.5] * 4] * 2
