"""What it costs to keep the frames of streams: one conversation of 50 streamed turns, with and without them.

    uv run python tests/benchmarks/bench_frames.py [--turns 50] [--tokens 300]

Chunks have the envelopes that the APIs send: every field repeated, OpenAI's random padding, Anthropic's events.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from flowproof_addons.dialects import framing
from flowproof_addons.dialects.base import Dialect
from flowproof_addons.dialects.registry import default
from flowproof_addons.trace import body, file
from flowproof_addons.trace.model import Exchange, JsonBody, Reply, Trace

_PADDING = re.compile(',"obfuscation":"[^"]*"')
_WORDS = "the a flight to Nairobi leaves at nine and lands by noon with one seat left near every window".split()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="What frames cost in a cassette.")
    parser.add_argument("--turns", type=int, default=50)
    parser.add_argument("--tokens", type=int, default=300, help="of each reply")
    options = parser.parse_args()
    for name, path, chunks in (
        ("openai-chat", "/v1/chat/completions", chat),
        ("openai-chat", "/v1/chat/completions", unpadded),
        ("anthropic-messages", "/v1/messages", anthropic),
    ):
        measure(name, path, chunks, options.turns, options.tokens)


def measure(name: str, path: str, chunks: Callable[[int, list[str]], Iterator[str]], turns: int, tokens: int) -> None:
    """One conversation in one dialect."""
    dialect = default().named(name)
    assert dialect is not None
    drawn = random.Random(1)
    messages: list[object] = []
    exchanges: list[Exchange] = []
    request = b""
    for turn in range(turns):
        messages.append({"role": "user", "content": f"question {turn}: " + " ".join(drawn.choices(_WORDS, k=40))})
        request = json.dumps({"model": "m", "max_tokens": 999, "stream": True, "messages": messages}).encode()
        words = [f"{word} " for word in drawn.choices(_WORDS, k=tokens)]
        sent = body.request("POST", path, {"content-type": "application/json"}, request)
        exchanges.append(Exchange(sent, streamed(dialect, "".join(chunks(turn, words))), name))
        messages.append({"role": "assistant", "content": "".join(words)})
    wire = sum(len(b"".join(exchange.reply.frames or ())) for exchange in exchanges)
    bare = [replace(exchange, reply=replace(exchange.reply, frames=None)) for exchange in exchanges]
    kept, left = size(exchanges), size(bare)
    print(
        f"{name} ({chunks.__name__}), {turns} turns of {tokens} tokens\n"
        f"  last request {len(request):,} B, streams on the wire {wire:,} B\n"
        f"  with frames {kept:,} B = {kept / len(request):.2f} x the last request; frames are"
        f" {kept - left:,} B, {(kept - left) / wire:.1%} of the wire\n"
        f"  without     {left:,} B = {left / len(request):.2f} x the last request"
    )


def streamed(dialect: Dialect, text: str) -> Reply:
    """A reply as it is kept: assembled, and its frames."""
    wire = framing.of(dialect.framing)
    frames = wire.split(text.encode())
    assembled = dialect.assemble(wire.events(frames))
    return Reply(200, JsonBody(assembled), {"content-type": "text/event-stream"}, tuple(frames))


def size(exchanges: list[Exchange]) -> int:
    """Of the cassette that holds them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.trace.json"
        file.save(path, Trace("benchmark", "2026-01-01T00:00:00Z", "0" * 64, tuple(exchanges)))
        return path.stat().st_size


def chat(turn: int, words: list[str]) -> Iterator[str]:
    """Chat Completions chunks with the fields of 2026, random padding among them."""
    drawn = random.Random(turn)

    def chunk(delta: object, finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        padding = "".join(drawn.choices("abcdefghijkXYZ0123456789", k=drawn.randint(1, 14)))
        fields = {"id": f"chatcmpl-{turn}", "object": "chat.completion.chunk", "created": 1_764_633_600 + turn}
        more = {"model": "gpt-5-mini", "service_tier": "default", "system_fingerprint": "fp_44709d6fcb"}
        whole = {**fields, **more, "choices": [choice], "usage": None, "obfuscation": padding}
        return f"data: {json.dumps(whole, separators=(',', ':'))}\n\n"

    yield chunk({"role": "assistant", "content": "", "refusal": None})
    yield from (chunk({"content": word}) for word in words)
    yield chunk({}, "stop")
    yield "data: [DONE]\n\n"


def unpadded(turn: int, words: list[str]) -> Iterator[str]:
    """The same for a client that asks for no padding (`include_obfuscation: false`)."""
    yield from (_PADDING.sub("", chunk) for chunk in chat(turn, words))


def anthropic(turn: int, words: list[str]) -> Iterator[str]:
    """Messages events."""

    def event(kind: str, **fields: object) -> str:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields}, separators=(',', ':'))}\n\n"

    usage = {"input_tokens": 472, "output_tokens": 2, "service_tier": "standard"}
    message = {"id": f"msg_{turn}", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": usage}
    yield event("message_start", message={**message, "stop_reason": None, "stop_sequence": None})
    yield event("content_block_start", index=0, content_block={"type": "text", "text": ""})
    yield event("ping")
    for word in words:
        yield event("content_block_delta", index=0, delta={"type": "text_delta", "text": word})
    yield event("content_block_stop", index=0)
    stop = {"stop_reason": "end_turn", "stop_sequence": None}
    yield event("message_delta", delta=stop, usage={"output_tokens": len(words)})
    yield event("message_stop")


if __name__ == "__main__":
    main()
