"""Content-Encoding undone within a bound."""

import gzip
import zlib
from collections.abc import Callable

import brotli  # type: ignore[import-untyped]
import pytest
from backports import zstd

from flowproof_addons.trace.encoding import EncodingError, decode


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


CODINGS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstd.compress,
}
TEXT = b'{"model": "m", "messages": []}' * 20


@pytest.mark.parametrize("name", CODINGS)
def test_each_coding_is_undone(name: str) -> None:
    assert decode(CODINGS[name](TEXT), name) == TEXT
    assert decode(CODINGS[name](b""), name) == b""


def test_deflate_without_the_header_of_zlib_is_read_too() -> None:
    assert decode(raw_deflate(TEXT), "deflate") == TEXT


def test_several_members_in_a_row_are_one_body() -> None:
    assert decode(gzip.compress(b"a") + gzip.compress(b"b"), "gzip") == b"ab"
    assert decode(zstd.compress(b"a") + zstd.compress(b"b"), "zstd") == b"ab"


def test_codings_are_undone_in_reverse_order() -> None:
    assert decode(gzip.compress(zstd.compress(TEXT)), "zstd, gzip") == TEXT


@pytest.mark.parametrize("name", ["", "identity", " Identity "])
def test_no_coding_changes_nothing(name: str) -> None:
    assert decode(TEXT, name) == TEXT


def test_an_empty_body_may_name_a_coding() -> None:
    assert decode(b"", "gzip") == b""


@pytest.mark.parametrize("name", CODINGS)
def test_a_bomb_is_refused_before_it_is_unpacked(name: str) -> None:
    with pytest.raises(EncodingError, match="larger than 1000 bytes"):
        decode(CODINGS[name](bytes(5_000_000)), name, limit=1000)


@pytest.mark.parametrize("name", CODINGS)
def test_a_body_at_the_limit_passes(name: str) -> None:
    assert len(decode(CODINGS[name](bytes(1000)), name, limit=1000)) == 1000


@pytest.mark.parametrize("name", CODINGS)
def test_a_cut_body_is_refused_wherever_it_is_cut(name: str) -> None:
    packed = CODINGS[name](TEXT)
    for length in range(1, len(packed)):
        with pytest.raises(EncodingError):
            decode(packed[:length], name)


@pytest.mark.parametrize("name", CODINGS)
def test_other_bytes_are_refused(name: str) -> None:
    with pytest.raises(EncodingError, match=r"is not|ends in the middle"):
        decode(b"\x00plain text", name)


def test_an_unknown_coding_is_refused_by_name() -> None:
    with pytest.raises(EncodingError, match="unknown Content-Encoding 'lzma'; known are gzip, deflate, br and zstd"):
        decode(TEXT, "lzma")
