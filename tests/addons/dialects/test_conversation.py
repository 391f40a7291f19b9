"""What every dialect of ours shows of the conversation in a request."""

from __future__ import annotations

import pytest

from flowproof_addons.dialects.base import Conversational, Dialect, Said, ToolCall, ToolResult
from flowproof_addons.dialects.gemini import Gemini
from flowproof_addons.dialects.openai_chat import OpenAIChat
from flowproof_addons.dialects.openai_responses import OpenAIResponses
from flowproof_addons.testing import Sample
from flowproof_addons.trace.model import JsonBody, JsonValue, Request


def test_it_holds_every_result_and_all_the_system_text(dialect: Dialect, sample: Sample) -> None:
    assert isinstance(dialect, Conversational)
    asked = dialect.read_request(sample.request)
    said = dialect.read_conversation(sample.request)
    assert tuple(result for item in said for result in item.results) == asked.results
    system = " ".join(item.text for item in said if item.role in ("system", "developer"))
    assert "".join(system.split()) == "".join(asked.system.split())


def test_it_has_the_roles_in_their_order(dialect: Dialect, sample: Sample) -> None:
    assert isinstance(dialect, Conversational)
    asked = dialect.read_request(sample.request)
    roles = [item.role for item in dialect.read_conversation(sample.request)]
    assert roles[len(roles) - len(asked.roles) :] == list(asked.roles)


CALL = ToolCall("call_1", "search", {"to": "NBO"}, '{"to":"NBO"}')


@pytest.mark.parametrize(
    ("dialect", "path", "body", "said"),
    [
        (
            OpenAIChat(),
            "/v1/chat/completions",
            {
                "messages": [
                    {"role": "system", "content": "Be kind."},
                    {"role": "user", "content": [{"type": "text", "text": "Look"}, {"type": "image_url"}]},
                    {
                        "role": "assistant",
                        "content": None,
                        "tool_calls": [
                            {"id": "call_1", "function": {"name": "search", "arguments": '{"to":"NBO"}'}},
                        ],
                    },
                    {"role": "tool", "tool_call_id": "call_1", "content": "[1]"},
                ]
            },
            (
                Said("system", "Be kind."),
                Said("user", "Look", parts=("image_url",)),
                Said("assistant", calls=(CALL,)),
                Said("tool", results=(ToolResult("call_1", "search", [1], False, ("messages", 3, "content")),)),
            ),
        ),
        (
            OpenAIResponses(),
            "/v1/responses",
            {"instructions": "Be kind.", "input": "Hello"},
            (Said("system", "Be kind."), Said("user", "Hello")),
        ),
        (
            Gemini(),
            "/v1beta/models/g:generateContent",
            {
                "systemInstruction": {"parts": [{"text": "Be kind."}]},
                "contents": [{"role": "user", "parts": [{"text": "Look"}, {"inlineData": {"mimeType": "image/png"}}]}],
            },
            (Said("system", "Be kind."), Said("user", "Look", parts=("inlineData",))),
        ),
    ],
    ids=["chat", "responses", "gemini"],
)
def test_it_reads_as_people_would(dialect: Conversational, path: str, body: JsonValue, said: tuple[Said, ...]) -> None:
    assert dialect.read_conversation(Request("POST", path, "", JsonBody(body))) == said
