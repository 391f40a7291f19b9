"""Bodies, requests and replies from bytes, and back."""

import gzip
import hashlib

import pytest

from flowproof_addons.trace.body import EncodingError, complaint, read, reply, reply_headers, request, wire
from flowproof_addons.trace.model import Body, BytesBody, JsonBody, MultipartBody, Part

FORM = "multipart/form-data; boundary=XX"
MULTIPART = (
    b'--XX\r\nContent-Disposition: form-data; name="model"\r\n\r\nwhisper-1\r\n'
    b'--XX\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\nContent-Type: audio/wav\r\n'
    b"Content-Length: 6\r\n\r\n\x00\xff\r\n\r\n\r\n--XX--\r\n"
)
PARTS = MultipartBody(
    (
        Part((("content-disposition", 'form-data; name="model"'),), b"whisper-1"),
        Part(
            (("content-disposition", 'form-data; name="file"; filename="a.wav"'), ("content-type", "audio/wav")),
            b"\x00\xff\r\n\r\n",
        ),
    )
)


@pytest.mark.parametrize(
    ("data", "content_type", "body"),
    [
        (b'{"a":1}', "application/json", JsonBody({"a": 1})),
        (b'{"a":1}', "application/vnd.api+json; charset=utf-8", JsonBody({"a": 1})),
        (b' {"a":1}', "", JsonBody({"a": 1})),
        (b"[1]", "text/plain", JsonBody([1])),
        (b'"x"', "application/json", JsonBody("x")),
        (b'"x"', "text/plain", BytesBody(b'"x"')),
        (b'{"a":', "application/json", BytesBody(b'{"a":')),
        (b'{"a":1,"a":2}', "application/json", BytesBody(b'{"a":1,"a":2}')),
        (b"", "application/json", BytesBody(b"")),
        (b"\xff\x00", "application/octet-stream", BytesBody(b"\xff\x00")),
        (MULTIPART, FORM, PARTS),
        (MULTIPART, 'multipart/form-data; charset=x; boundary="XX"', PARTS),
        (MULTIPART, "multipart/form-data; boundary=YY", BytesBody(MULTIPART)),
        (b"junk" + MULTIPART, FORM, BytesBody(b"junk" + MULTIPART)),
        (MULTIPART[:-6], FORM, BytesBody(MULTIPART[:-6])),
        (b"--XX\r\n\r\nno headers\r\n--XX--\r\n", FORM, MultipartBody((Part((), b"no headers"),))),
    ],
)
def test_a_body_is_read_as_what_it_is(data: bytes, content_type: str, body: Body) -> None:
    assert read(data, content_type) == body


def test_another_boundary_is_no_difference() -> None:
    assert read(MULTIPART.replace(b"XX", b"--other"), "multipart/form-data; boundary=--other") == PARTS


@pytest.mark.parametrize(
    ("data", "content_type"),
    [
        (b'{"a":[1.00,"\xc3\xa9"]}', "application/json"),
        (b"\xff", "x/y"),
        (b"--XX\r\ncontent-disposition: a\r\n\r\nx\r\n--XX--\r\n", FORM),
    ],
)
def test_the_wire_form_is_what_was_read(data: bytes, content_type: str) -> None:
    assert wire(read(data, content_type), content_type) == data


def test_why_a_body_is_not_the_json_it_claims_to_be() -> None:
    assert complaint(b'{"a":1,"a":2}', "application/json") == "the key 'a' stands twice in one object"
    assert complaint(b'{"a":1}', "application/json") is None
    assert complaint(b"", "application/json") is None
    assert complaint(b"{", "text/plain") is None


def test_a_request_keeps_what_matching_and_diagnosis_need() -> None:
    packed = gzip.compress(b'{"a":1}')
    found = request(
        "post",
        "/v1/messages?beta=true&x=1",
        {
            "Content-Type": "application/json",
            "Content-Encoding": "gzip",
            "User-Agent": "claude-cli/2.1",
            "Anthropic-Beta": "tools-1",
            "Anthropic-Version": "2026-10-21",
            "Authorization": "Bearer s3cret",
            "X-Api-Key": "s3cret",
            "Cookie": "s3cret",
            "Session-Id": "random",
        },
        packed,
    )
    assert (found.method, found.path, found.query, found.body) == (
        "POST",
        "/v1/messages",
        "beta=true&x=1",
        JsonBody({"a": 1}),
    )
    assert found.headers == {
        "anthropic-beta": "tools-1",
        "anthropic-version": "2026-10-21",
        "content-type": "application/json",
        "user-agent": "claude-cli/2.1",
    }
    assert found.digest == hashlib.sha256(b'{"a":1}').hexdigest()


def test_the_random_boundary_is_kept_out_of_the_headers() -> None:
    assert request("POST", "/", {"content-type": FORM}, MULTIPART).headers == {"content-type": "multipart/form-data"}


@pytest.mark.parametrize(
    ("target", "path", "query"),
    [
        ("/a?b?c", "/a", "b?c"),
        ("http://127.0.0.1:8/v1/x?y", "/v1/x", "y"),
        ("http://h", "/", ""),
        ("/go?to=http://h/x", "/go", "to=http://h/x"),
        ("", "/", ""),
    ],
)
def test_the_target_is_split(target: str, path: str, query: str) -> None:
    found = request("GET", target, {}, b"")
    assert (found.path, found.query) == (path, query)


def test_a_body_that_cannot_be_decoded_is_an_error() -> None:
    with pytest.raises(EncodingError, match="unknown Content-Encoding"):
        request("POST", "/", {"Content-Encoding": "rot13"}, b"x")


def test_a_reply_is_served_again_as_its_upstream_wrote_it() -> None:
    text = b'{\n  "id": "x",\n  "n": 1.00\n}\n'
    found = reply(200, {"Content-Type": "application/json"}, text)
    assert found.body == JsonBody({"id": "x", "n": 1.0}, text.decode())
    assert wire(found.body, "application/json") == text


def test_credentials_and_the_hop_are_kept_out_of_a_reply() -> None:
    assert reply_headers(
        {
            "Content-Type": "application/json",
            "Content-Length": "3",
            "Content-Encoding": "gzip",
            "Connection": "keep-alive",
            "Transfer-Encoding": "chunked",
            "Set-Cookie": "s3cret",
            "X-Api-Key": "s3cret",
            "X-Request-Id": "req_1",
            "X-RateLimit-Remaining-Tokens": "12",
            "Retry-After": "1",
        }
    ) == {
        "content-type": "application/json",
        "retry-after": "1",
        "x-ratelimit-remaining-tokens": "12",
        "x-request-id": "req_1",
    }
