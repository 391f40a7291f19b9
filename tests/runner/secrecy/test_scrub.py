"""Secrets are taken out of texts and files, however they are spelt."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from flowproof_runner.secrecy.scrub import Scrubber

SECRET = 'hunter2"&?'


@pytest.fixture
def scrubber() -> Scrubber:
    return Scrubber({"DB": SECRET, "LONGER": "xx-hunter2", "SHORT": "abc", "EMPTY": ""})


@pytest.mark.parametrize(
    "text, expected",
    [
        (f"password: {SECRET}!", "password: ${DB}!"),
        (r"{\"p\": \"hunter2\"&?\"}", r"{\"p\": \"${DB:json}\"}"),
        ("?p=hunter2%22%26%3F", "?p=${DB:url}"),
        (base64.b64encode(b"u:" + SECRET.encode()).decode(), "dTp${DB:base64-2}"),
        (SECRET.encode().hex(), "${DB:hex}"),
        ("xx-hunter2", "${LONGER}"),
        ("abc hunter", "abc hunter"),
    ],
)
def test_a_secret_is_replaced_by_its_name(scrubber: Scrubber, text: str, expected: str) -> None:
    assert scrubber.text(text) == expected


def test_a_file_is_scrubbed_in_place_and_bytes_that_are_no_text_stay(scrubber: Scrubber, tmp_path: Path) -> None:
    file = tmp_path / "out"
    file.write_bytes(b"\xff\xfe " + SECRET.encode() + b"\r\n\x80")
    scrubber.file(file)
    assert file.read_bytes() == b"\xff\xfe ${DB}\r\n\x80"


def test_a_clean_file_is_not_touched(scrubber: Scrubber, tmp_path: Path) -> None:
    file = tmp_path / "out"
    file.write_bytes(b"clean")
    before = file.stat().st_mtime_ns
    scrubber.file(file)
    assert file.stat().st_mtime_ns == before


def test_without_secrets_nothing_changes() -> None:
    assert Scrubber({}).text("anything") == "anything"


def test_json_is_scrubbed_names_included(scrubber: Scrubber) -> None:
    found = scrubber.value({"a": [SECRET, 1, None, {SECRET: f"x {SECRET}"}]})
    assert SECRET not in repr(found)
    assert "${DB}" in repr(found)
