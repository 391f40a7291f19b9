"""Figures for matching and cassettes, in processor time: how they grow with the length of a conversation.

uv run python tests/benchmarks/bench_matching.py
"""

from __future__ import annotations

import datetime as dt
import gc
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from flowproof_addons.dialects import registry
from flowproof_addons.matching.divergence import Divergence
from flowproof_addons.matching.matcher import Hit, Matcher
from flowproof_addons.trace import body
from flowproof_addons.trace.file import load, save
from flowproof_addons.trace.journal import Journal
from flowproof_addons.trace.json_value import compact
from flowproof_addons.trace.model import Exchange, JsonBody, JsonValue, Reply, Request, Trace
from flowproof_addons.trace.redact import Redactor

PATH = "/v1/chat/completions"
HEADERS = {"content-type": "application/json", "user-agent": "OpenAI/Python 3.57.0"}
DIALECTS = registry.default()
TURNS = 2000


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as folder:
        trace = _growing(Path(folder))
    _divergence(trace)
    print(f"peak memory of this script   {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
    for size in (2_000, 20_000):
        _length(size)


def _growing(folder: Path) -> Trace:
    """One conversation of 2,000 turns."""
    path = folder / "x.trace.json"
    last = len(_data(TURNS))
    save_s = _timed(lambda: save(path, _trace(TURNS)))
    cassette = path.stat().st_size
    print(f"growing conversation, {TURNS} turns, last request {last / 1e6:.2f} MB")
    print(f"  cassette / last request      {cassette / last:.2f}   (target <= 3)")
    print(f"  save, per turn               {save_s / TURNS * 1e3:.2f} ms")
    gc.collect()
    load_s = min(_timed(lambda: load(path)) for _ in range(3))
    trace = load(path)
    build_s = min(_timed(lambda: _matcher(trace.exchanges)) for _ in range(3))
    print(f"  load, per turn               {load_s / TURNS * 1e3:.3f} ms (target <= 0.2)")
    print(f"  load and index, per turn     {(load_s + build_s) / TURNS * 1e3:.3f} ms")
    matcher = _matcher(trace.exchanges)
    journal = Journal(folder / "trace.jsonl", Redactor({"TOKEN": "a-secret-of-some-length"}))
    for turn in range(1, TURNS + 1):
        data = _data(turn)
        begun = time.thread_time()
        request = body.request("POST", PATH, HEADERS, data)
        read = time.thread_time()
        found = matcher.match(request, DIALECTS.find("POST", PATH))
        matched = time.thread_time()
        assert isinstance(found, Hit) and found.index == turn - 1
        journal.append(found.exchange)
        if turn in (1, 10, 100, 1000, TURNS):
            times = [(read - begun) * 1e3, (matched - read) * 1e3, (time.thread_time() - matched) * 1e3]
            kb = len(data) / 1000
            shown = "  ".join(f"{name} {ms:6.2f}" for name, ms in zip(("read", "match", "journal"), times, strict=True))
            print(f"  turn {turn:5d} ({kb:7.1f} KB)     {shown} ms   {sum(times) / kb * 1e3:5.1f} us per KB")
    journal.close()
    print(f"  memory after replaying it    {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
    print(f"  journal / last request       {(folder / 'trace.jsonl').stat().st_size / last:.2f}")
    return trace


def _length(size: int) -> None:
    """Requests of one size and shape, in short and long cassettes."""
    medians = {}
    for turns in (10, TURNS):
        first, medians[turns] = _replayed([_request(size, number) for number in range(turns)])
        shown = f"match {medians[turns] * 1e6:.0f} us, the first {first * 1e3:.2f} ms"
        print(f"{size / 1000:.0f} KB, {turns:4d} turns of one shape: {shown}")
    print(f"  {TURNS} turns / 10 turns        {medians[TURNS] / medians[10]:.2f}   (target <= 1.5)")


def _replayed(requests: list[Request]) -> tuple[float, float]:
    """Seconds for the first match and for the median of the others."""
    matcher = _matcher([_exchange(request) for request in requests])
    dialect = DIALECTS.find("POST", PATH)
    times = [_timed(partial(matcher.match, request, dialect)) for request in requests]
    return times[0], statistics.median(times[1:])


def _divergence(trace: Trace) -> None:
    """The report on the last turn of a long conversation."""
    matcher = _matcher(trace.exchanges)
    request = body.request("POST", PATH, HEADERS, _data(TURNS).replace(b"You are", b"You were", 1))
    begun = time.thread_time()
    found = matcher.match(request, DIALECTS.find("POST", PATH))
    assert isinstance(found, Divergence)
    spent = (time.thread_time() - begun) * 1e3
    print(f"divergence among {TURNS} turns: {spent:.0f} ms; {found.headline}; {found.nearest_name}")


def _message(number: int) -> JsonValue:
    if number % 2:
        return {"role": "assistant", "content": f"answer {number}: " + "because of this and that, " * 18}
    return {"role": "user", "content": f"question {number}: " + "what about this and that? " * 18}


MESSAGES: list[JsonValue] = [_message(number) for number in range(2 * TURNS)]
SYSTEM: JsonValue = {"role": "system", "content": "You are a helpful assistant. " * 20}


def _body(turn: int) -> JsonValue:
    return {"model": "gpt-5", "messages": [SYSTEM, *MESSAGES[: 2 * turn - 1]], "temperature": 0.2}


def _data(turn: int) -> bytes:
    return compact(_body(turn)).encode()


def _request(size: int, number: int) -> Request:
    text = f"{number} " + "x" * size
    return body.request(
        "POST",
        PATH,
        HEADERS,
        compact({"model": "gpt-5", "messages": [SYSTEM, {"role": "user", "content": text}]}).encode(),
    )


def _reply(turn: int) -> Reply:
    message = MESSAGES[2 * turn - 1]
    value: JsonValue = {
        "id": f"chatcmpl-{turn}",
        "object": "chat.completion",
        "created": 1796186587 + turn,
        "model": "gpt-5",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100 * turn, "completion_tokens": 120, "total_tokens": 100 * turn + 120},
    }
    return Reply(200, JsonBody(value), {"content-type": "application/json", "x-request-id": f"req_{turn}"})


def _exchange(request: Request, turn: int = 1) -> Exchange:
    return Exchange(request, _reply(turn), "openai-chat")


def _trace(turns: int) -> Trace:
    bodies = (Request("POST", PATH, "", JsonBody(_body(turn)), HEADERS, f"{turn:064x}") for turn in range(1, turns + 1))
    exchanges = tuple(_exchange(request, turn) for turn, request in enumerate(bodies, 1))
    return Trace("flowproof", "2026-12-02T10:00:00Z", "0" * 64, exchanges)


def _matcher(exchanges: tuple[Exchange, ...] | list[Exchange]) -> Matcher:
    return Matcher(exchanges, (), DIALECTS, clock=lambda: dt.datetime(2026, 12, 2, tzinfo=dt.UTC))


def _timed(deed: Callable[[], object]) -> float:
    begun = time.thread_time()
    deed()
    return time.thread_time() - begun


if __name__ == "__main__":
    main()
