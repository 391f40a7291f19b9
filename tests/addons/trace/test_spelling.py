"""A secret in every spelling a reader could undo."""

import base64
import json
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest

from flowproof_addons.trace.spelling import spellings

SECRET = 'p+w"d/\\ é ?~42'


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("", SECRET),
        ("json", json.dumps(SECRET, ensure_ascii=False)[1:-1]),
        ("json-ascii", json.dumps(SECRET)[1:-1]),
        ("json-slash", json.dumps(SECRET)[1:-1].replace("/", r"\/")),
        ("json-json", json.dumps(json.dumps(SECRET, ensure_ascii=False), ensure_ascii=False)[3:-3]),
        ("json-json-ascii", json.dumps(json.dumps(SECRET))[3:-3]),
        ("url", quote(SECRET, safe="")),
        ("url-path", quote(SECRET)),
        ("url-plus", quote_plus(SECRET)),
        ("hex", SECRET.encode().hex()),
        ("hex-upper", SECRET.encode().hex().upper()),
    ],
)
def test_each_spelling_is_known_by_name(name: str, text: str) -> None:
    assert spellings(SECRET)[text] == name


def test_lower_case_percent_escapes() -> None:
    assert spellings("a/b?c")["a%2fb%3fc"] == "url-lower"


@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
@pytest.mark.parametrize("before", [b"", b"u", b"us", b"usr", b"user:"])
@pytest.mark.parametrize("after", [b"", b"!", b"?>", b"..."])
@pytest.mark.parametrize("secret", ["s3cr3t", "hunter22", "long>>er~~???", "é" * 5])
def test_base64_is_found_at_any_alignment(
    encode: Callable[[bytes], bytes], before: bytes, after: bytes, secret: str
) -> None:
    text = encode(before + secret.encode() + after).decode()
    assert any(spelling in text for spelling, name in spellings(secret).items() if name.startswith("base64"))


def test_a_plain_word_has_one_spelling_of_each_kind() -> None:
    assert sorted(spellings("hunter22").values()) == ["", "base64-0", "base64-1", "base64-2", "hex", "hex-upper"]
