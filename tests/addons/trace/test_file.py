"""Cassettes: written whole, read back the same, refused with a place and a remedy."""

import base64
import json
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flowproof_addons.trace.body import reply
from flowproof_addons.trace.file import CassetteError, blob_folder, load, save
from flowproof_addons.trace.json_value import MAX_DEPTH, Number, compact, parse
from flowproof_addons.trace.model import (
    Attempt,
    BytesBody,
    Exchange,
    Fault,
    JsonBody,
    JsonValue,
    MultipartBody,
    Part,
    Reply,
    Request,
    Trace,
)

text = st.text(max_size=5)
values: st.SearchStrategy[JsonValue] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([0.5, 1e300, Number("1.00"), Number("-0"), 10**40, "\ud800", "日本\u202e"])
    | text,
    lambda child: st.lists(child, max_size=3) | st.dictionaries(text, child, max_size=3),
    max_leaves=10,
)
headers = st.dictionaries(st.sampled_from(["user-agent", "content-type", "a-beta"]), text, max_size=3)
parts = st.builds(Part, st.lists(st.tuples(text, text), max_size=2).map(tuple), st.binary(max_size=9))
bodies = (
    st.builds(JsonBody, values)
    | st.builds(BytesBody, st.binary(max_size=20) | text.map(str.encode))
    | st.builds(MultipartBody, st.lists(parts, max_size=3).map(tuple))
)
growing = st.lists(values, max_size=6).flatmap(
    lambda items: st.integers(0, len(items)).map(lambda k: JsonBody({"model": "m" * 40, "messages": items[:k]}))
)
requests = st.builds(
    Request,
    st.sampled_from(["POST", "GET"]),
    st.sampled_from(["/v1/messages", "/b"]),
    st.sampled_from(["", "x=1"]),
    bodies | growing,
    headers,
    st.sampled_from(["", "ab" * 32]),
)
as_written = st.tuples(values, st.sampled_from([None, 2, 4])).map(
    lambda made: reply(200, {"content-type": "application/json"}, json.dumps(made[0], indent=made[1]).encode()).body
)
frames = st.none() | st.lists(
    st.binary(max_size=10)
    | values.map(lambda value: f"data: {compact(value)}\n\n".encode())
    | text.map(lambda token: f"event: a\ndata: {compact({'t': token, 'n': 1})}\n\n".encode()),
    max_size=12,
).map(tuple)
replies = st.builds(Reply, st.just(0) | st.integers(100, 599), bodies | as_written, headers, frames, st.booleans())
attempts = st.builds(Attempt, st.integers(100, 599), headers, bodies)
exchanges = st.builds(
    Exchange,
    requests,
    replies,
    st.none() | st.sampled_from(["openai-chat", "x"]),
    st.lists(attempts, max_size=2).map(tuple),
    st.none() | st.integers(0, 3),
    st.sampled_from([None, "bytes", "json", "rules"]),
    st.lists(text, max_size=2).map(tuple),
    values,
    st.dictionaries(st.sampled_from(["later", "more"]), values, max_size=2),
)
faulted = st.builds(
    lambda exchange, dialect, fault: replace(exchange, dialect=dialect, fault=fault),
    exchanges,
    st.sampled_from(["openai-chat", "x"]),
    st.builds(Fault, text, st.integers(1, 9)),
)
traces = st.builds(
    Trace,
    text,
    text,
    text,
    st.lists(exchanges, max_size=6).map(tuple),
    st.dictionaries(text, values, max_size=2),
    values,
    st.dictionaries(st.sampled_from(["egress", "zz"]), values, max_size=2),
    st.lists(faulted, max_size=2).map(tuple),
)


def request(value: JsonValue, path: str = "/v1/messages") -> Request:
    return Request("POST", path, "", JsonBody(value))


def trace(*found: Exchange) -> Trace:
    return Trace("flowproof 0.1.0", "2026-12-02T10:00:00Z", "5" * 64, found)


def turn(value: JsonValue, **members: object) -> Exchange:
    return replace(Exchange(request(value), Reply(200, JsonBody({"ok": True})), "openai-chat"), **members)  # type: ignore[arg-type]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "x.trace.json"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None)
@given(traces)
def test_loading_what_was_saved_is_the_identity(path: Path, made: Trace) -> None:
    save(path, made)
    written = path.read_bytes()
    loaded = load(path)
    assert loaded == made
    save(path, loaded)
    assert path.read_bytes() == written


def test_how_a_cassette_looks(path: Path) -> None:
    first: JsonValue = {"model": "m", "messages": [{"role": "user", "content": "hello, is anybody there? " * 9}]}
    answer: JsonValue = {"role": "assistant", "content": "yes"}
    assert isinstance(first, dict)
    messages = first["messages"]
    assert isinstance(messages, list)
    second: JsonValue = {**first, "messages": [*messages, answer]}
    agent = {"user-agent": "sdk/1"}
    save(
        path,
        replace(
            trace(
                turn(first, request=replace(request(first), headers=agent, digest="1" * 64)),
                Exchange(Request("GET", "/v1/models", "", BytesBody(b"")), Reply(200, JsonBody({"data": []}))),
                turn(second, request=replace(request(second), headers=agent, digest="2" * 64)),
            ),
            extra={"egress": []},
        ),
    )
    assert path.read_text() == (
        "{\n"
        '  "flowproof": 1,\n'
        '  "recorded_by": "flowproof 0.1.0",\n'
        '  "recorded_at": "2026-12-02T10:00:00Z",\n'
        f'  "spec": "{"5" * 64}",\n'
        '  "model": {\n'
        '    "turns": [\n'
        "      {\n"
        '        "n": 1,\n'
        '        "dialect": "openai-chat",\n'
        '        "path": "/v1/messages",\n'
        '        "headers": { "user-agent": "sdk/1" },\n'
        f'        "sha256": "{"1" * 64}",\n'
        '        "request": {\n'
        '          "json": {\n'
        '            "model": "m",\n'
        '            "messages": [\n'
        "              {\n"
        '                "role": "user",\n'
        f'                "content": "{"hello, is anybody there? " * 9}"\n'
        "              }\n"
        "            ]\n"
        "          }\n"
        "        },\n"
        '        "reply": { "status": 200, "body": { "json": { "ok": true } } }\n'
        "      },\n"
        "      {\n"
        '        "n": 3,\n'
        f'        "sha256": "{"2" * 64}",\n'
        '        "request": {\n'
        '          "after": 1,\n'
        '          "patch": [{ "op": "add", "path": "/messages/-", '
        '"value": { "role": "assistant", "content": "yes" } }]\n'
        "        },\n"
        '        "reply": { "status": 200, "body": { "json": { "ok": true } } }\n'
        "      }\n"
        "    ]\n"
        "  },\n"
        '  "side_calls": [\n'
        "    {\n"
        '      "n": 2,\n'
        '      "method": "GET",\n'
        '      "path": "/v1/models",\n'
        '      "request": { "text": "" },\n'
        '      "reply": { "status": 200, "body": { "json": { "data": [] } } }\n'
        "    }\n"
        "  ],\n"
        '  "egress": []\n'
        "}\n"
    )


def test_two_conversations_each_continue_their_own(path: Path) -> None:
    def said(system: str, count: int) -> JsonValue:
        told: list[JsonValue] = [{"n": f"{system}{i}"} for i in range(count)]
        return {"messages": [{"role": "system", "content": system * 200}, *told]}

    save(path, trace(turn(said("a", 1)), turn(said("b", 1)), turn(said("a", 2)), turn(said("b", 2))))
    turns = json.loads(path.read_text())["model"]["turns"]
    assert [entry["request"].get("after") for entry in turns] == [None, None, 1, 2]


def test_a_growing_conversation_costs_little_more_than_its_last_request(path: Path) -> None:
    messages: list[JsonValue] = [{"role": "user", "content": f"message {n} " * 60} for n in range(200)]
    save(path, trace(*(turn({"model": "m", "messages": messages[:n]}) for n in range(1, 200, 2))))
    assert path.stat().st_size < 2 * len(compact({"model": "m", "messages": messages}))


def test_loaded_requests_share_what_they_have_in_common(path: Path) -> None:
    messages: list[JsonValue] = [{"role": "user", "content": f"message {n} " * 60} for n in range(9)]
    save(path, trace(*(turn({"messages": messages[:n]}) for n in (7, 9))))
    one, other = (exchange.request.body for exchange in load(path).exchanges)
    assert isinstance(one, JsonBody) and isinstance(other, JsonBody)
    assert isinstance(one.value, dict) and isinstance(other.value, dict)
    first, second = one.value["messages"], other.value["messages"]
    assert isinstance(first, list) and isinstance(second, list)
    assert all(left is right for left, right in zip(first, second, strict=False))


def test_members_of_later_versions_are_kept(path: Path) -> None:
    save(path, trace(turn({"a": 1})))
    document = json.loads(path.read_text())
    document["later"] = {"x": [1]}
    document["model"]["turns"][0]["later"] = 2
    path.write_text(json.dumps(document))
    loaded = load(path)
    assert (loaded.extra, loaded.exchanges[0].extra) == ({"later": {"x": [1]}}, {"later": 2})
    save(path, loaded)
    document = json.loads(path.read_text())
    assert document["later"] == {"x": [1]}
    assert document["model"]["turns"][0]["later"] == 2


def test_the_deepest_body_that_is_read_can_be_stored_and_read_again(path: Path) -> None:
    deep = parse('{"a":' * MAX_DEPTH + "1" + "}" * MAX_DEPTH)
    made = trace(turn({"b": [deep]}), turn(deep), turn([deep] * 3))
    save(path, made)
    assert load(path) == made


def test_windows_line_ends_and_a_byte_order_mark_are_read(path: Path) -> None:
    made = trace(turn({"a": "b\nc"}))
    save(path, made)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert load(path) == made


# Large bodies


PICTURE = bytes(range(256)) * 400
DATA_URL = "data:image/png;base64," + base64.b64encode(PICTURE).decode()


def test_a_large_picture_is_stored_once_beside_the_trace(path: Path) -> None:
    made = trace(
        turn({"messages": [{"image_url": DATA_URL}]}),
        turn({"messages": [{"image_url": DATA_URL}, {"text": "and now?"}]}),
        turn({"other": [DATA_URL]}, reply=Reply(200, BytesBody(PICTURE))),
    )
    save(path, made)
    assert [(file.read_bytes(), file.stat().st_size) for file in blob_folder(path).iterdir()] == [
        (PICTURE, len(PICTURE))
    ]
    assert path.stat().st_size < 5000
    assert load(path) == made


def test_what_is_not_exactly_base64_stays_in_the_trace(path: Path) -> None:
    made = trace(turn({"a": DATA_URL + "\n", "b": "x" * 100_001, "c": "-_" * 40_000}))
    save(path, made)
    assert not blob_folder(path).exists()
    assert load(path) == made


def test_bodies_that_are_no_longer_named_are_removed(path: Path) -> None:
    save(path, trace(turn({"a": DATA_URL})))
    (blob_folder(path) / "README").write_text("mine")
    save(path, trace(turn({"a": "b"})))
    assert [file.name for file in blob_folder(path).iterdir()] == ["README"]
    (blob_folder(path) / "README").unlink()
    save(path, trace(turn({"a": "b"})))
    assert not blob_folder(path).exists()


@pytest.mark.parametrize(("damage", "complaint"), [(b"other", "its digest differs"), (None, "cannot be read")])
def test_a_damaged_or_missing_body_is_told_with_its_place(path: Path, damage: bytes | None, complaint: str) -> None:
    save(path, trace(turn({"a": DATA_URL})))
    (blob,) = blob_folder(path).iterdir()
    blob.unlink() if damage is None else blob.write_bytes(damage)
    with pytest.raises(CassetteError) as error:
        load(path)
    line = 1 + next(n for n, row in enumerate(path.read_text().split("\n")) if '"sha256": "' in row)
    assert complaint in str(error.value)
    assert str(error.value).startswith(f"{path}:{line}: ")


# What is refused


def saved(path: Path) -> str:
    save(path, trace(turn({"model": "m", "messages": [{"role": "user", "content": "x" * 200}]})))
    return path.read_text()


def refusal(path: Path, content: str | bytes) -> str:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(CassetteError) as error:
        load(path)
    return str(error.value)


def test_a_file_cut_anywhere_is_refused_and_never_loaded_in_part(path: Path) -> None:
    whole = saved(path).rstrip()
    for length in range(len(whole)):
        message = refusal(path, whole[:length])
        assert message.startswith(f"{path}:")
        assert "record the flow" in message


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "{path}: is empty; {restore}"),
        (
            '{"flowproof": 1,\n"a": [1,\n',
            "{path}:3: the file is cut: it ends in the middle; restore it, or record the flow again",
        ),
        ("hello", "{path}:1: is not JSON: a value is missing; {restore}"),
        (b"\n\xff", "{path}:2: is not UTF-8 text; {restore}"),
        (
            '{"a": 1, "a": 2}',
            "{path}: is not JSON: the key 'a' stands twice in one object; {restore}",
        ),
        ("[" * 5000, "{path}: is not JSON: nested deeper than 140 levels; {restore}"),
        (
            '{\n<<<<<<< HEAD\n"a": 1\n=======\n"a": 2\n>>>>>>> x\n}',
            "{path}:2: holds a merge conflict (<<<<<<<); take one side whole (git checkout --ours or --theirs), "
            "or record the flow again",
        ),
        ("[]", "{path}:1: the document: must be an object, is a list; {mend}"),
        (
            "{}",
            "{path}:1: the document: is not a cassette: `flowproof` with the format's version is missing; {mend}",
        ),
        (
            '{\n"flowproof": 2}',
            "{path}:2: flowproof: the cassette has format 2, this flowproof reads format 1: upgrade flowproof; {mend}",
        ),
        (
            '{"flowproof": 0}',
            "{path}:1: flowproof: the cassette has format 0, this flowproof reads format 1; {mend}",
        ),
        (
            '{"flowproof": true}',
            "{path}:1: flowproof: must be a whole number, is true or false; {mend}",
        ),
    ],
)
def test_what_is_no_cassette_is_told_in_one_line(path: Path, content: str | bytes, message: str) -> None:
    restore, mend = "restore the file, or record the flow again", "mend it by hand, or record the flow again"
    assert refusal(path, content) == message.format(path=path, restore=restore, mend=mend)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('"status": 200', '"status": "200"', "model.turns[0].reply.status: must be a whole number, is text"),
        ('"status": 200', '"status": 99999', "model.turns[0].reply.status: 99999 is no HTTP status"),
        ('"status": 200', '"status": -1', "model.turns[0].reply.status: -1 is no HTTP status"),
        ('"n": 1', '"n": null', "model.turns[0].n: must be a whole number, is null"),
        ('"path": "/v1/messages"', '"path": 1', "model.turns[0].path: must be text, is a number"),
        ('"path"', '"paht"', "model.turns[0]: `path` is missing"),
        ('"reply"', '"rply"', "model.turns[0]: `reply` is missing"),
        ('"json": {\n', '"jso": {\n', "model.turns[0].request: a body needs `json`, `multipart`, `text` or `base64`"),
        ('"model": {', '"model": [], "x": {', "model: must be an object, is a list"),
        (
            '"request": {',
            '"request": {"after": 7, "patch": [], ',
            "model.turns[0].request.after: there is no exchange 7",
        ),
        ('"dialect": "openai-chat"', '"dialect": null', "a turn has a `dialect`"),
        (
            '"body": {',
            '"frames": [{"at": "/x", "each": []}], "body": {',
            "model.turns[0].reply.frames: a run of frames",
        ),
        ('"body": {', '"cut": 1, "body": {', "model.turns[0].reply.cut: must be true or false, is a number"),
        ('"recorded_at": "2', '"recorded_at": [], "x": "2', "recorded_at: must be text, is a list"),
    ],
)
def test_a_wrong_type_is_told_with_its_line_and_path(path: Path, old: str, new: str, complaint: str) -> None:
    whole = saved(path)
    assert old in whole
    damaged = whole.replace(old, new, 1)
    message = refusal(path, damaged)
    assert complaint in message
    place = '"n": 1' if "missing" in complaint or "a turn" in complaint else new  # told where the object begins
    line = damaged[: damaged.index(place)].count("\n") + 1
    assert int(message.removeprefix(f"{path}:").split(":")[0]) in (line - 1, line)


def test_two_exchanges_with_one_number_are_refused(path: Path) -> None:
    save(path, trace(turn({"a": 1}), turn({"b": 1})))
    assert "number 1 is there already" in refusal(path, path.read_text().replace('"n": 2', '"n": 1'))


def test_a_missing_cassette_is_an_error_of_its_own(path: Path) -> None:
    with pytest.raises(CassetteError, match="there is no such cassette; record the flow first"):
        load(path)


def test_a_folder_is_no_cassette(tmp_path: Path) -> None:
    with pytest.raises(CassetteError, match="cannot be read: Is a directory"):
        load(tmp_path)


# Writing


@contextmanager
def disk_full_after(size: int) -> Iterator[None]:
    """Files of this process cannot grow beyond `size`: writing fails as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_loses_nothing_and_leaves_nothing(path: Path) -> None:
    save(path, trace(turn({"a": 1})))
    before = path.read_bytes()
    with disk_full_after(100), pytest.raises(CassetteError) as error:
        save(path, trace(turn({"a": "x" * 10_000})))
    assert str(error.value).startswith(f"{path}: cannot be written: File too large; nothing was changed: make room")
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_a_folder_that_is_none_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CassetteError, match=r"cannot be written: .*; nothing was changed"):
        save(tmp_path / "file" / "x.trace.json", trace())


def test_a_missing_folder_is_made(tmp_path: Path) -> None:
    save(tmp_path / "a" / "b" / "x.trace.json", trace())
    assert load(tmp_path / "a" / "b" / "x.trace.json") == trace()


def test_a_new_cassette_has_the_usual_mode_and_an_old_one_keeps_its_own(path: Path) -> None:
    save(path, trace())
    umask = os.umask(0)
    os.umask(umask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~umask
    path.chmod(0o640)
    save(path, trace(turn({"a": 1})))
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_link_is_followed(tmp_path: Path) -> None:
    link = tmp_path / "link.trace.json"
    link.symlink_to("real.trace.json")
    save(link, trace())
    assert link.is_symlink()
    assert load(tmp_path / "real.trace.json") == trace()


def test_number_literals_survive_in_the_whole_document(path: Path) -> None:
    made = replace(trace(turn(parse('{"t": 1.00, "n": 1E5}'))), mocks=parse("[1.0, 1]"))
    save(path, made)
    assert '"t": 1.00' in path.read_text()
    assert compact(load(path).mocks) == "[1.0,1]"
