"""`multipart/*` bodies as parts, without the boundary, which clients draw at random.

Grammar: RFC 2046, section 5.1.1; RFC 7578 for form data (read 2026-12-02).
"""

from __future__ import annotations

import re

from flowproof_addons.trace.model import MultipartBody, Part

_BOUNDARY = re.compile(r';\s*boundary=(?:"([^"]+)"|([^\s;"]+))', re.IGNORECASE)


def boundary(content_type: str) -> str | None:
    """The boundary parameter of a multipart content type, else None."""
    if not content_type.lower().lstrip().startswith("multipart/"):
        return None
    found = _BOUNDARY.search(content_type)
    return (found[1] or found[2]) if found else None


def without_boundary(content_type: str) -> str:
    """The content type with its random boundary left out."""
    return _BOUNDARY.sub("", content_type) if boundary(content_type) else content_type


def read(data: bytes, mark: str) -> MultipartBody | None:
    """The parts, or None when the body is not exactly delimited parts (then its bytes are all there is to keep)."""
    dash = b"--" + mark.encode("latin-1", "replace")
    if not data.startswith(dash + b"\r\n"):
        return None
    chunks = (b"\r\n" + data).split(b"\r\n" + dash)
    if chunks[-1] not in (b"--", b"--\r\n"):
        return None
    parts = [_part(chunk) for chunk in chunks[1:-1]]
    found = tuple(part for part in parts if part is not None)
    return MultipartBody(found) if len(found) == len(parts) else None


def write(body: MultipartBody, mark: str) -> bytes:
    """The wire form under a boundary."""
    dash = b"--" + mark.encode("latin-1", "replace")
    pieces: list[bytes] = []
    for part in body.parts:
        head = "".join(f"{name}: {value}\r\n" for name, value in part.headers).encode("utf-8", "surrogateescape")
        pieces.append(dash + b"\r\n" + head + b"\r\n" + part.data + b"\r\n")
    return b"".join(pieces) + dash + b"--\r\n"


def _part(chunk: bytes) -> Part | None:
    if not chunk.startswith(b"\r\n"):
        return None
    head, blank, data = chunk[2:].partition(b"\r\n\r\n")
    if head.startswith(b"\r\n") or not head:  # a part without headers begins with the blank line
        head, blank, data = b"", b"\r\n", chunk[4:]
    if not blank:
        return None
    headers: list[tuple[str, str]] = []
    for line in head.decode("utf-8", "surrogateescape").split("\r\n") if head else ():
        name, colon, value = line.partition(":")
        if not colon or name != name.strip():
            return None
        if name.lower() != "content-length":
            headers.append((name.lower(), value.strip()))
    return Part(tuple(headers), data)
