import http.client
import json
import subprocess
import sys
import time
from pathlib import Path

import anthropic
import openai
import pytest

from flowproof_addons.trace.model import JsonValue
from standin import script
from standin.server import StandIn

MODEL = Path(__file__).parents[2] / "examples" / "standin" / "model.py"
CHAT = "/v1/chat/completions"


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDKs would send even loopback requests to a proxy the shell names."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def ask(model: StandIn, method: str, path: str, body: JsonValue = None) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", model.server_port, timeout=60)
    try:
        connection.request(method, path, json.dumps(body).encode() if body is not None else None)
        reply = connection.getresponse()
        return reply.status, reply.read()
    finally:
        connection.close()


def said(model: StandIn, body: JsonValue) -> str:
    status, reply = ask(model, "POST", CHAT, body)
    assert status == 200, reply
    return str(json.loads(reply)["choices"][0]["message"]["content"])


def user(text: str) -> JsonValue:
    return {"role": "user", "content": text}


def told(tool: str, result: str) -> list[JsonValue]:
    call: JsonValue = {"id": "c", "type": "function", "function": {"name": tool, "arguments": "{}"}}
    return [{"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": "c", "content": result}]


OFFER: JsonValue = [{"type": "function", "function": {"name": "search"}}]


@pytest.mark.parametrize(
    ("when", "yes", "no"),
    [
        ({"user": "nairobi"}, {"messages": [user("To Nairobi!")]}, {"messages": [user("To Paris!")]}),
        (
            {"system": "polite"},
            {"messages": [{"role": "system", "content": "Be polite."}]},
            {"messages": [user("Be polite.")]},
        ),
        ({"offered": "search"}, {"messages": [], "tools": OFFER}, {"messages": []}),
        ({"results": 1}, {"messages": told("f", "x")}, {"messages": [*told("f", "x"), *told("f", "y")]}),
        ({"told": "f"}, {"messages": [*told("g", "x"), *told("f", "y")]}, {"messages": told("g", "x")}),
        ({"result": "sold out"}, {"messages": told("f", "It is sold out.")}, {"messages": told("f", "Here you are.")}),
        ({"model": "big"}, {"model": "big", "messages": []}, {"model": "small", "messages": []}),
    ],
)
def test_a_rule_answers_when_its_condition_holds(when: JsonValue, yes: JsonValue, no: JsonValue) -> None:
    with StandIn(script.rules([{"when": when, "say": "yes"}, {"say": "no"}])) as model:
        assert (said(model, yes), said(model, no)) == ("yes", "no")


def test_the_same_request_gets_the_same_answer_streamed_or_not() -> None:
    with StandIn() as model, StandIn() as other:
        body: dict[str, JsonValue] = {"model": "m", "messages": [user("hi")]}
        first, second = ask(model, "POST", CHAT, body), ask(other, "POST", CHAT, body)
        streamed = ask(model, "POST", CHAT, {**body, "stream": True})
    assert first == second
    assert json.loads(first[1])["id"].encode() in streamed[1]


def test_a_request_no_rule_answers_is_an_error() -> None:
    with StandIn(script.rules([{"when": {"user": "a"}, "say": "b"}])) as model:
        status, reply = ask(model, "POST", CHAT, {"messages": [user("zzz")]})
    assert status == 400 and b"no rule of the script answers 'zzz'" in reply


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "part"),
    [
        ("GET", "/v1/models", None, 200, b'"standin-1"'),
        ("HEAD", "/", None, 200, b""),
        ("HEAD", "/api/hello", None, 200, b""),
        ("POST", "/v1/messages/count_tokens?beta=true", {"messages": []}, 200, b'{"input_tokens":'),
        ("POST", "/v1/embeddings", {"input": ["a", "b"], "model": "e"}, 200, b'"index":1'),
        ("GET", "/nowhere", None, 404, b"not_found_error"),
        ("POST", "/v1/nowhere", {}, 404, b"not_found_error"),
    ],
)
def test_side_calls_are_answered(method: str, path: str, body: JsonValue, status: int, part: bytes) -> None:
    with StandIn() as model:
        got, reply = ask(model, method, path, body)
    assert got == status and part in reply


def test_an_embedding_is_what_the_sdk_expects() -> None:
    with StandIn() as model, openai.OpenAI(base_url=f"{model.url}/v1", api_key="k") as client:
        plain = client.embeddings.create(model="e", input="text", encoding_format="float").data[0].embedding
        packed = client.embeddings.create(model="e", input="text").data[0].embedding
    assert plain == packed and len(plain) == 8


def test_a_rule_may_fail_first_and_the_client_tries_again() -> None:
    with StandIn(script.rules([{"say": "at last", "fail": {"status": 429, "times": 2}}])) as model:
        with openai.OpenAI(base_url=f"{model.url}/v1", api_key="k") as client:
            reply = client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}])
        assert reply.choices[0].message.content == "at last"
        assert len(model.seen) == 3


def test_frames_are_sent_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first word is read before the last frame is sent, which on any machine is long after."""
    pause, sent = time.sleep, list[float]()

    def paused(seconds: float) -> None:
        pause(seconds)
        sent.append(time.monotonic())

    monkeypatch.setattr("standin.server.time.sleep", paused)
    with StandIn(script.rules([{"say": "one two three", "delay_ms": 400}])) as model:
        with anthropic.Anthropic(base_url=model.url, api_key="k") as client:
            arrived: list[float] = []
            with client.messages.stream(
                model="m", max_tokens=9, messages=[{"role": "user", "content": "hi"}]
            ) as stream:
                for _ in stream.text_stream:
                    arrived.append(time.monotonic())
    assert len(arrived) == 3
    assert arrived[0] < sent[-1]


def test_a_stream_can_be_cut() -> None:
    with StandIn(script.rules([{"say": "one two three", "cut_after": 2}])) as model:
        with pytest.raises(http.client.IncompleteRead) as cut:
            ask(model, "POST", CHAT, {"messages": [], "stream": True})
    assert cut.value.partial.count(b"data: ") == 2


@pytest.mark.parametrize("path", [CHAT, "/v1/responses", "/v1/messages"])
def test_a_stream_can_break_with_an_error(path: str) -> None:
    with StandIn(script.rules([{"say": "one two three", "error_after": 1}])) as model:
        _, reply = ask(model, "POST", path, {"messages": [], "stream": True})
    assert reply.count(b"data: ") == 2 and reply.endswith(b"\n\n") and b"event: error\n" in reply


def test_the_sdk_raises_the_error_in_a_stream() -> None:
    with StandIn(script.rules([{"say": "one two", "error_after": 2}])) as model:
        with openai.OpenAI(base_url=f"{model.url}/v1", api_key="k") as client:
            with pytest.raises(openai.APIError, match="told to break"):
                asked = client.chat.completions.create(
                    model="m", messages=[{"role": "user", "content": "hi"}], stream=True
                )
                list(asked)


def test_what_arrived_is_kept_as_it_came() -> None:
    with StandIn() as model:
        ask(model, "POST", f"{CHAT}?x=1", {"messages": []})
        (seen,) = model.seen
    assert (seen.method, seen.path, seen.body) == ("POST", f"{CHAT}?x=1", b'{"messages": []}')
    assert seen.headers["content-length"] == "16"


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"sya": "hi"}, "sya"),
        ({"when": {"usr": "hi"}}, "usr"),
        ({"say": 7}, "say"),
        ({"call": [{"name": "f"}]}, "tool"),
        ({"fail": {"state": 500}}, "state"),
    ],
)
def test_a_rule_with_a_mistake_is_refused(rule: JsonValue, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        script.rules([rule])


def test_the_program_says_where_it_listens(tmp_path: Path) -> None:
    (tmp_path / "script.json").write_text('[{"say": "from the file"}]')
    command = [sys.executable, str(MODEL), "--script", str(tmp_path / "script.json"), "--log", str(tmp_path / "log")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().removeprefix("listening on ").strip()
            with openai.OpenAI(base_url=f"{url}/v1", api_key="k") as client:
                reply = client.responses.create(model="m", input="hi")
        finally:
            process.terminate()
    assert reply.output_text == "from the file"
    (line,) = (tmp_path / "log").read_text().splitlines()
    assert json.loads(line)["path"] == "/v1/responses"


def test_the_program_names_a_broken_script(tmp_path: Path) -> None:
    (tmp_path / "script.json").write_text('[{"sya": "hi"}]')
    command = [sys.executable, str(MODEL), "--script", str(tmp_path / "script.json")]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 2 and "sya" in ended.stderr and "Traceback" not in ended.stderr
