"""From bytes to the values of a trace and back: bodies, requests, the headers that may be kept."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from flowproof_addons.trace import credentials, multipart
from flowproof_addons.trace.encoding import LIMIT, EncodingError, decode
from flowproof_addons.trace.json_value import JsonError, compact, parse
from flowproof_addons.trace.model import Body, BytesBody, JsonBody, MultipartBody, Reply, Request

__all__ = ["LIMIT", "EncodingError", "complaint", "decode", "read", "reply", "reply_headers", "request", "wire"]

_HOP_BY_HOP = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "content-length",
        "content-encoding",
    }
)


def read(data: bytes, content_type: str) -> Body:
    """The body as a value: JSON where it is JSON, parts where it is multipart, else its bytes.

    Text that claims to be JSON and is not (see `complaint`) is kept as bytes, recorded and compared like any other.
    """
    mark = multipart.boundary(content_type)
    if mark is not None:
        return multipart.read(data, mark) or BytesBody(data)
    if not _may_be_json(data, content_type):
        return BytesBody(data)
    try:
        return JsonBody(parse(data))
    except JsonError:
        return BytesBody(data)


def complaint(data: bytes, content_type: str) -> str | None:
    """Why a body that claims to be JSON is not: "the key 'model' stands twice in one object". None when all is well."""
    if not data or not _is_json(content_type):
        return None
    try:
        parse(data)
    except JsonError as error:
        return str(error)
    return None


def wire(body: Body, content_type: str) -> bytes:
    """The bytes to send for a body; multipart needs the boundary that the content type names."""
    match body:
        case JsonBody(value, source):
            return (compact(value) if source is None else source).encode()
        case MultipartBody():
            return multipart.write(body, multipart.boundary(content_type) or "flowproof")
        case BytesBody(data):
            return data


def request(method: str, target: str, headers: Mapping[str, str], data: bytes) -> Request:
    """The request of an agent: `target` as on the request line, `data` as on the wire.

    Raises EncodingError when the body cannot be decoded.
    """
    lower = {name.lower(): value for name, value in headers.items()}
    content = decode(data, lower.get("content-encoding", ""))
    path, _, query = _origin_form(target).partition("?")
    return Request(
        method=method.upper(),
        path=path,
        query=query,
        body=read(content, lower.get("content-type", "")),
        headers={name: _kept(name, value) for name, value in sorted(lower.items()) if _is_kept(name)},
        digest=hashlib.sha256(content).hexdigest(),
    )


def reply(status: int, headers: Mapping[str, str], data: bytes) -> Reply:
    """An unstreamed reply, `data` as on the wire. Raises EncodingError."""
    lower = {name.lower(): value for name, value in headers.items()}
    content = decode(data, lower.get("content-encoding", ""))
    return Reply(status, _with_source(read(content, lower.get("content-type", "")), content), reply_headers(headers))


def reply_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers of a reply that are kept: all but hop-by-hop, length and encoding, cookies and credentials."""
    lower = {name.lower(): value for name, value in headers.items()}
    return {
        name: value
        for name, value in sorted(lower.items())
        if name not in _HOP_BY_HOP and not credentials.is_header(name)
    }


def _with_source(body: Body, content: bytes) -> Body:
    if not isinstance(body, JsonBody):
        return body
    text = content.decode()
    return body if compact(body.value) == text else JsonBody(body.value, text)


def _origin_form(target: str) -> str:
    """`http://host/path` (a client that thinks we are its proxy) as `/path`."""
    scheme, colon, rest = target.partition("://")
    if not colon or not scheme.isalpha():
        return target or "/"
    return "/" + rest.partition("/")[2]


def _is_json(content_type: str) -> bool:
    kind = content_type.partition(";")[0].strip().lower()
    return kind.endswith(("/json", "+json"))


def _may_be_json(data: bytes, content_type: str) -> bool:
    return _is_json(content_type) or data[:64].lstrip()[:1] in (b"{", b"[")


def _is_kept(name: str) -> bool:
    """The allow-list of request headers: what tells one client version from another, and nothing that names a user."""
    return name in ("user-agent", "content-type") or name.endswith(("-beta", "-version"))


def _kept(name: str, value: str) -> str:
    return multipart.without_boundary(value) if name == "content-type" else value
