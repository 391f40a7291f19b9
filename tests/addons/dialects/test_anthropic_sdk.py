"""The official Anthropic SDK cannot tell a synthesised stream from a plain answer, and shows a refusal at once."""

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import anthropic
import pytest

from flowproof_addons.dialects import framing, raw
from flowproof_addons.dialects.base import Dialect, ErrorText
from flowproof_addons.testing import Sample

type Load = Callable[[str, str], tuple[Dialect, Sample]]
type Connect = Callable[[str], anthropic.Anthropic]


class Serving(Protocol):
    url: str
    requests: int


type Serve = Callable[[int, dict[str, str], bytes], Serving]


@pytest.fixture
def connect() -> Iterator[Connect]:
    clients: list[anthropic.Anthropic] = []

    def connect(url: str) -> anthropic.Anthropic:
        http = anthropic.DefaultHttpxClient(trust_env=False)
        clients.append(anthropic.Anthropic(base_url=url, api_key="k", http_client=http))
        return clients[-1]

    yield connect
    for client in clients:
        client.close()


def asked(sample: Sample) -> dict[str, Any]:
    body = raw.of_body(sample.request.body)
    return {key: value for key, value in body.items() if key not in ("stream", "thread")}


def said(message: anthropic.BaseModel) -> dict[str, object]:
    """What was said, to the SDK, which takes null and absent for one and warns of blocks it does not know."""
    return message.model_dump(mode="json", exclude_none=True, warnings=False)


@pytest.mark.parametrize("name", ["tools", "search"])
def test_a_stream_says_what_the_message_says(name: str, load: Load, serve: Serve, connect: Connect) -> None:
    dialect, sample = load("anthropic-messages", name)
    wire = framing.of(dialect.framing)
    plain = serve(200, {"content-type": "application/json"}, raw.compact(sample.reply).encode())
    expected = said(connect(plain.url).messages.create(**asked(sample)))
    made = b"".join(wire.frames(dialect.synthesise(sample.reply, sample.request)))
    for body in (made, sample.stream or b""):
        serving = serve(200, {"content-type": wire.content_type}, body)
        with connect(serving.url).messages.stream(**asked(sample)) as stream:
            message = said(stream.get_final_message())
        # The SDK's accumulator drops what stands beside message_delta.delta; that of its beta keeps it.
        assert message == {key: value for key, value in expected.items() if key != "context_management"}


def test_a_refusal_is_shown_after_one_request(load: Load, serve: Serve, connect: Connect) -> None:
    dialect, sample = load("anthropic-messages", "tools")
    refusal = dialect.error(ErrorText("no recording answers this request: messages[0].content differs"))
    serving = serve(refusal.status, dict(refusal.headers), refusal.body)
    client = connect(serving.url).with_options(max_retries=8)
    with pytest.raises(anthropic.APIStatusError, match=r"no recording answers.*messages\[0\]\.content"):
        client.messages.create(**asked(sample))
    assert serving.requests == 1
