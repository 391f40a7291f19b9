"""What counts as a credential: the one registry that redaction, storage and leak checks read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

HEADERS = frozenset(
    {
        "authorization",
        "proxy-authorization",
        "authentication",
        "x-api-key",
        "api-key",
        "apikey",
        "x-goog-api-key",
        "xi-api-key",
        "ocp-apim-subscription-key",
        "x-amz-security-token",
        "x-functions-key",
        "cookie",
        "set-cookie",
    }
)
"""Headers that carry a credential, lower case. Never stored, never shown."""

_HEADER_ENDINGS = ("-api-key", "-apikey", "-auth-token", "-access-token", "-secret", "-authorization", "-cookie")

QUERY_NAMES = frozenset({"key", "api_key", "apikey", "api-key", "access_token", "token", "sig", "signature"})
"""Query parameters that carry a credential (Gemini's `?key=`, Azure's `?sig=`), lower case."""


def is_header(name: str) -> bool:
    """True for a header that may carry a credential."""
    lower = name.lower()
    return lower in HEADERS or lower.endswith(_HEADER_ENDINGS)


@dataclass(frozen=True, slots=True)
class Shape:
    """Text that is a key by its looks alone, whoever it belongs to."""

    kind: str
    """Shown in its place: `${REDACTED:openai}`."""
    prefixes: tuple[str, ...]
    """One of these stands at its start: the cheap test."""
    pattern: re.Pattern[str]


def _shape(kind: str, prefixes: tuple[str, ...], tail: str) -> Shape:
    start = "|".join(map(re.escape, prefixes))
    return Shape(kind, prefixes, re.compile(rf"(?<![A-Za-z0-9])(?:{start}){tail}"))


_RANDOM = r"(?=[A-Za-z0-9_-]{0,80}[A-Za-z0-9]{12})(?=[A-Za-z_-]{0,80}[0-9])[A-Za-z0-9_-]{20,}"
"""Long, with a digit and without word-sized pieces only: `sk-estimator-doc-link` is a CSS class.

Every open repetition that something must follow is bounded: hostile text must not cost the square of its length.
"""

SHAPES = (
    _shape("anthropic", ("sk-ant-",), _RANDOM),
    _shape("openai", ("sk-",), _RANDOM),
    _shape("google", ("AIza",), r"[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),
    _shape("google-oauth", ("ya29.",), r"[A-Za-z0-9_-]{20,}"),
    _shape("github", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"[A-Za-z0-9]{36,}"),
    _shape("github", ("github_pat_",), r"[A-Za-z0-9_]{22,}"),
    _shape("gitlab", ("glpat-",), r"[A-Za-z0-9_-]{20,}"),
    _shape("slack", ("xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-", "xapp-"), r"[A-Za-z0-9-]{10,}"),
    _shape("aws", ("AKIA", "ASIA"), r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _shape("stripe", ("sk_live_", "rk_live_"), r"[A-Za-z0-9]{16,}"),
    _shape("groq", ("gsk_",), r"[A-Za-z0-9]{40,}"),
    _shape("huggingface", ("hf_",), r"[A-Za-z]{30,}"),
    _shape("xai", ("xai-",), r"[A-Za-z0-9]{60,}"),
    _shape("npm", ("npm_",), r"[A-Za-z0-9]{36}(?![A-Za-z0-9])"),
    _shape("pypi", ("pypi-AgEI",), r"[A-Za-z0-9_-]{50,}"),
    _shape("jwt", ("eyJ",), r"[A-Za-z0-9_-]{10,1000}\.eyJ[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{20,}"),
    Shape(
        "private-key",
        ("-----BEGIN ",),
        re.compile(r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]{1,20000}-----END [A-Z ]{0,30}PRIVATE KEY-----"),
    ),
)
"""Tried in order, so the narrower shape comes first."""

_PREFIXES = tuple(dict.fromkeys(prefix for shape in SHAPES for prefix in shape.prefixes))
SHORTEST_SHAPE = 14
"""No shape is shorter: shorter text needs no look."""


def may_hold_key(text: str) -> bool:
    """The cheap test: False means that no shape is in the text."""
    return any(prefix in text for prefix in _PREFIXES)


def key_shapes(text: str) -> Iterator[tuple[str, int, int]]:
    """Kind, start and end of every key-shaped span; spans do not overlap."""
    taken: list[tuple[int, int]] = []
    for shape in SHAPES:
        if not any(prefix in text for prefix in shape.prefixes):
            continue
        for found in shape.pattern.finditer(text):
            if all(found.end() <= start or end <= found.start() for start, end in taken):
                taken.append(found.span())
                yield shape.kind, *found.span()
