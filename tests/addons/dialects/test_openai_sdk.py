"""The official OpenAI SDK cannot tell a synthesised stream from a plain answer, and shows a refusal at once."""

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import openai
import pytest
from openai.types.responses import ResponseCompletedEvent, ResponseIncompleteEvent

from flowproof_addons.dialects import framing, raw
from flowproof_addons.dialects.base import Dialect, ErrorText
from flowproof_addons.testing import Sample
from flowproof_addons.trace.model import JsonBody, Request

type Load = Callable[[str, str], tuple[Dialect, Sample]]
type Connect = Callable[[str], openai.OpenAI]


class Serving(Protocol):
    url: str
    requests: int


type Serve = Callable[[int, dict[str, str], bytes], Serving]


@pytest.fixture
def connect() -> Iterator[Connect]:
    clients: list[openai.OpenAI] = []

    def connect(url: str) -> openai.OpenAI:
        http = openai.DefaultHttpxClient(trust_env=False)
        clients.append(openai.OpenAI(base_url=f"{url}/v1", api_key="k", http_client=http))
        return clients[-1]

    yield connect
    for client in clients:
        client.close()


def plain(sample: Sample) -> tuple[int, dict[str, str], bytes]:
    return 200, {"content-type": "application/json"}, raw.compact(sample.reply).encode()


def synthesised(dialect: Dialect, sample: Sample) -> tuple[int, dict[str, str], bytes]:
    wire = framing.of(dialect.framing)
    asked = Request("POST", sample.request.path, "", JsonBody({"stream_options": {"include_usage": True}}))
    return 200, {"content-type": wire.content_type}, b"".join(wire.frames(dialect.synthesise(sample.reply, asked)))


def recorded(sample: Sample) -> tuple[int, dict[str, str], bytes]:
    assert sample.stream is not None
    return 200, {"content-type": "text/event-stream"}, sample.stream


def asked(sample: Sample) -> dict[str, Any]:
    body = raw.of_body(sample.request.body)
    return {key: value for key, value in body.items() if key not in ("stream", "stream_options")}


def said(message: openai.BaseModel) -> Any:
    """What was said, to the SDK, which takes null and absent for one."""
    return without_extras(message.to_dict(exclude_none=True))


def without_extras(value: Any) -> Any:
    """Without what its accumulators add (their reading of arguments, where a fragment belonged) and what they lose."""
    if isinstance(value, dict):
        own = [
            key for key in value if key.startswith(("parsed", "timings")) or (key == "index" and "function" in value)
        ]
        return {key: without_extras(inner) for key, inner in value.items() if key not in own}
    return [without_extras(inner) for inner in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", ["brace", "reasoning", "choices"])
def test_a_chat_stream_says_what_the_completion_says(name: str, load: Load, serve: Serve, connect: Connect) -> None:
    dialect, sample = load("openai-chat", name)
    expected = said(connect(serve(*plain(sample)).url).chat.completions.create(**asked(sample)))
    for answer in (synthesised(dialect, sample), recorded(sample)):
        with connect(serve(*answer).url).chat.completions.stream(**asked(sample)) as stream:
            assert said(stream.get_final_completion()) == expected


def test_parallel_calls_arrive_whole(load: Load, serve: Serve, connect: Connect) -> None:
    """Chunk by chunk: the SDK's accumulator knows no custom tools."""
    dialect, sample = load("openai-chat", "parallel")
    for answer in (synthesised(dialect, sample), recorded(sample)):
        client = connect(serve(*answer).url)
        texts: dict[int, str] = {}
        with client.chat.completions.create(**asked(sample), stream=True) as stream:
            chunks = list(stream)
        for call in [call for chunk in chunks for choice in chunk.choices for call in choice.delta.tool_calls or []]:
            texts[call.index] = texts.get(call.index, "") + ((call.function and call.function.arguments) or "")
        assert texts == {0: '{"city":"São Paulo 🌧"}', 1: "", 2: ""}
        assert chunks[-1].usage is not None and chunks[-1].usage.total_tokens == 88


@pytest.mark.parametrize("name", ["tools", "text"])
def test_a_response_stream_says_what_the_response_says(name: str, load: Load, serve: Serve, connect: Connect) -> None:
    dialect, sample = load("openai-responses", name)
    expected = said(connect(serve(*plain(sample)).url).responses.create(**asked(sample)))
    for answer in (synthesised(dialect, sample), recorded(sample)):
        with connect(serve(*answer).url).responses.create(**asked(sample), stream=True) as stream:
            events = list(stream)
        last = events[-1]
        assert isinstance(last, ResponseCompletedEvent | ResponseIncompleteEvent)
        assert said(last.response) == expected


def test_the_response_accumulator_follows_a_synthesised_stream(load: Load, serve: Serve, connect: Connect) -> None:
    dialect, sample = load("openai-responses", "tools")
    expected = said(connect(serve(*plain(sample)).url).responses.create(**asked(sample)))
    with connect(serve(*synthesised(dialect, sample)).url).responses.stream(**asked(sample)) as stream:
        assert said(stream.get_final_response()) == expected


@pytest.mark.parametrize("name", ["openai-chat", "openai-responses"])
def test_a_refusal_is_shown_after_one_request(name: str, load: Load, serve: Serve, connect: Connect) -> None:
    dialect, sample = load(name, "tools" if name == "openai-responses" else "brace")
    refusal = dialect.error(ErrorText("no recording answers this request: messages[0].content differs"))
    serving = serve(refusal.status, dict(refusal.headers), refusal.body)
    client = connect(serving.url).with_options(max_retries=8)
    with pytest.raises(openai.BadRequestError, match=r"no recording answers.*messages\[0\]\.content") as raised:
        if name == "openai-chat":
            client.chat.completions.create(**asked(sample))
        else:
            client.responses.create(**asked(sample))
    assert serving.requests == 1
    assert raised.value.code == "flowproof_divergence"
