"""HTML by construction: text is escaped wherever it enters, and only what is made here is markup."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator


class Markup(str):
    """Text that is HTML already. Joining or formatting it gives a plain `str`, which is escaped again: never unsafe."""

    __slots__ = ()


type Child = Markup | str | Iterable[Child] | None
"""What an element may hold; None is nothing."""

_VOID = frozenset({"br", "col", "hr", "input", "link", "meta"})
_HIDDEN = re.compile(
    "[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)
"""What a browser forbids, swallows or obeys (a right-to-left override reorders what is read): shown as an escape."""


def el(tag: str, *children: Child, **attributes: str | int | bool | None) -> Markup:
    """An element. `cls` is `class`, `aria_label` is `aria-label`; None and False leave an attribute out."""
    opening = "".join(_attributes(attributes))
    if tag in _VOID:
        return Markup(f"<{tag}{opening}>")
    return Markup(f"<{tag}{opening}>{''.join(_flat(children))}</{tag}>")


def escape(text: str) -> Markup:
    """Text as HTML, in content and in quoted attributes alike."""
    return Markup(html.escape(_HIDDEN.sub(_shown, text.replace("\r\n", "\n"))))


def join(separator: str, parts: Iterable[Child]) -> Markup:
    """The parts that hold something, with the separator between them."""
    return Markup(escape(separator).join(filter(None, ("".join(_flat([part])) for part in parts))))


def _attributes(attributes: dict[str, str | int | bool | None]) -> Iterator[str]:
    for name, value in attributes.items():
        name = "class" if name == "cls" else name.rstrip("_").replace("_", "-")
        if value is True:
            yield f" {name}"
        elif value is not None and value is not False:
            yield f' {name}="{escape(str(value))}"'


def _flat(children: Iterable[Child]) -> Iterator[str]:
    for child in children:
        if isinstance(child, Markup):
            yield str(child)
        elif isinstance(child, str):
            yield escape(child)
        elif child is not None:
            yield from _flat(child)


def _shown(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
