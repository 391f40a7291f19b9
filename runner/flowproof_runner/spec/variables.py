"""`${NAME}` in a spec: kept as written, resolved only when the flow is about to run.

`$${` stands for a literal `${`. `${flowproof.*}` handles belong to the drivers and pass through untouched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from flowproof_runner.reading.document import Document
from flowproof_runner.reading.problems import Complaint, Loc, Problem
from flowproof_runner.reading.scalars import Node

NAME = r"[A-Za-z_][A-Za-z0-9_]*"

_REFERENCE = re.compile(rf"(?P<handle>\$\$?\{{flowproof\.[^}}]*\}})|(?P<escape>\$\$\{{)|\$\{{(?P<name>{NAME})\}}")
_ANY = re.compile(r"\$?\$\{")


class UnsetError(ValueError):
    """A variable is not set."""


def malformed(document: Document) -> Iterator[Problem]:
    """Problems with every `${` that is no reference."""
    for loc, text in _texts(document.root, ()):
        for found in _ANY.finditer(text):
            if _REFERENCE.match(text, found.start()) is None:
                said = "is no variable reference; accepted: ${NAME}, ${flowproof.HANDLE}, or $${ for a literal ${"
                yield document.problem(loc, Complaint(f"'${{' {said}", (), found.start()))


def names(text: str) -> tuple[str, ...]:
    """The variables a text refers to, in order."""
    return tuple(found["name"] for found in _REFERENCE.finditer(text) if found["name"])


def filled(text: str, environ: Mapping[str, str], quoted: Callable[[str], str] = str) -> str:
    """The text with its variables' values, each passed through `quoted`.

    Raises UnsetError naming a variable that is not set.
    """

    def value(found: re.Match[str]) -> str:
        if found["handle"]:
            return found.group()  # `$${flowproof.x}` keeps its escape for the driver that knows the handles
        if found["escape"]:
            return "${"
        if found["name"] not in environ:
            raise UnsetError(found["name"])
        return quoted(environ[found["name"]])

    return _REFERENCE.sub(value, text)


def _texts(node: Node, loc: Loc) -> Iterator[tuple[Loc, str]]:
    if isinstance(node, str):
        yield loc, node
    elif isinstance(node, list):
        for number, each in enumerate(node):
            yield from _texts(each, (*loc, number))
    elif isinstance(node, dict):
        for key, each in node.items():
            yield from _texts(each, (*loc, key))
