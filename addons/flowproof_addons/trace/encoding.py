"""Content-Encoding undone, within a bound: a bomb is refused, never unpacked."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from functools import partial
from typing import Protocol

LIMIT = 256 * 1024 * 1024
"""Largest body after decoding, in bytes."""


class EncodingError(ValueError):
    """The body is not what its Content-Encoding says, or is larger than the limit once decoded."""


def decode(data: bytes, encoding: str, limit: int = LIMIT) -> bytes:
    """The bytes with every coding of the Content-Encoding header undone, the last one first.

    Knows gzip, deflate, br and zstd (RFC 9110, section 8.4.1; RFC 8878). Raises EncodingError.
    """
    if not data:  # a HEAD reply names a coding and has no body
        return data
    for coding in reversed([part.strip().lower() for part in encoding.split(",")]):
        match coding:
            case "" | "identity":
                continue
            case "gzip" | "x-gzip":
                data = _inflate(data, limit, 16 + zlib.MAX_WBITS, coding)
            case "deflate":
                data = _deflate(data, limit)
            case "br":
                data = _brotli(data, limit)
            case "zstd":
                data = _zstd(data, limit)
            case _:
                raise EncodingError(f"unknown Content-Encoding {coding!r}; known are gzip, deflate, br and zstd")
    return data


def _deflate(data: bytes, limit: int) -> bytes:
    """RFC 9110 means zlib by "deflate"; some senders leave zlib's header away."""
    try:
        return _inflate(data, limit, zlib.MAX_WBITS, "deflate")
    except _BrokenError:
        return _inflate(data, limit, -zlib.MAX_WBITS, "deflate")


def _inflate(data: bytes, limit: int, window: int, coding: str) -> bytes:
    return _members(data, limit, partial(zlib.decompressobj, window), zlib.error, coding)


def _zstd(data: bytes, limit: int) -> bytes:
    from backports import zstd  # comes with mitmproxy; imported only when met

    return _members(data, limit, zstd.ZstdDecompressor, zstd.ZstdError, "zstd")


class _BrokenError(EncodingError):
    """The body is not of the coding, in contrast to one that is too large."""


class _Decoder(Protocol):
    """What zlib and zstd have in common."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


def _members(
    data: bytes, limit: int, decoder_of: Callable[[], _Decoder], refused: type[Exception], coding: str
) -> bytes:
    """A body may be several compressed ones in a row."""
    out = bytearray()
    while data:
        decoder = decoder_of()
        try:
            out += decoder.decompress(data, limit - len(out) + 1)
        except refused as error:
            raise _BrokenError(f"the body is not {coding}: {error}") from error
        _bound(len(out), limit)
        if not decoder.eof:
            raise _BrokenError(f"the {coding} body ends in the middle")
        data = decoder.unused_data
    return bytes(out)


def _brotli(data: bytes, limit: int) -> bytes:
    import brotli  # type: ignore[import-untyped]  # comes with mitmproxy; imported only when met, it is slow to load

    decoder = brotli.Decompressor()
    try:
        out: bytes = decoder.process(data, output_buffer_limit=limit + 1)
    except brotli.error as error:
        raise EncodingError(f"the body is not br: {error}") from error
    _bound(len(out), limit)
    if not decoder.is_finished():
        raise EncodingError("the br body ends in the middle")
    return out


def _bound(size: int, limit: int) -> None:
    if size > limit:
        raise EncodingError(f"the decoded body is larger than {limit} bytes")
