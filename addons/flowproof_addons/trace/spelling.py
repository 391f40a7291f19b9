"""The ways in which a text can be spelt and still be read: what a secret looks like inside other text."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from urllib.parse import quote, quote_plus


def _json(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)[1:-1]


def _json_ascii(value: str) -> str:
    return json.dumps(value)[1:-1]


def _url_lower(value: str) -> str:
    pieces = quote(value, safe="").split("%")
    return "%".join([pieces[0], *(piece[:2].lower() + piece[2:] for piece in pieces[1:])])


def _hex(value: str) -> str:
    return value.encode().hex()


def _base64(shift: int, alphabet: bytes) -> Callable[[str], str]:
    """The part of the base64 text that depends on the value alone, when `shift` other bytes come before it."""

    def spell(value: str) -> str:
        data = bytes(shift) + value.encode()
        encoded = base64.b64encode(data, alphabet).decode()
        return encoded[-(-8 * shift // 6) : 8 * len(data) // 6]

    return spell


SPELLINGS: Mapping[str, Callable[[str], str]] = {
    "": str,
    "json": _json,
    "json-ascii": _json_ascii,
    "json-slash": lambda value: _json_ascii(value).replace("/", "\\/"),
    "json-json": lambda value: _json(_json(value)),
    "json-json-ascii": lambda value: _json_ascii(_json_ascii(value)),
    "url": lambda value: quote(value, safe=""),
    "url-path": quote,
    "url-plus": quote_plus,
    "url-lower": _url_lower,
    **{f"base64-{shift}": _base64(shift, b"+/") for shift in range(3)},
    **{f"base64url-{shift}": _base64(shift, b"-_") for shift in range(3)},
    "hex": _hex,
    "hex-upper": lambda value: _hex(value).upper(),
}
"""Name of each spelling -> the function that makes it; `""` is the plain text."""


def spellings(value: str) -> dict[str, str]:
    """Each different text that spells `value` -> the name of the spelling, the plainest one first."""
    found: dict[str, str] = {}
    for name, spell in SPELLINGS.items():
        found.setdefault(spell(value), name)
    return found
