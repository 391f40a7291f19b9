"""`$file`: a tool result that stands in a file of its own beside the spec."""

from __future__ import annotations

import json
import os
from pathlib import Path

from flowproof_addons.trace import plain
from flowproof_addons.trace.model import JsonValue
from flowproof_runner.reading.document import Document
from flowproof_runner.reading.problems import Complaint, Loc, Problem, SpecError
from flowproof_runner.reading.reader import read
from flowproof_runner.reading.scalars import Node, Scalar

MAX_BYTES = 4_000_000

_SECTIONS = ("tools", "mcp")


class IncludeError(ValueError):
    """A file cannot stand for a result; the message says why and what is accepted."""


def included(document: Document, folder: Path) -> tuple[Node, list[Problem]]:
    """The document with each `{ $file: PATH }` of its tools replaced by what the file holds, and what failed."""
    problems: list[Problem] = []
    root = document.root
    if not isinstance(root, dict):
        return root, problems
    filled = {
        key: _filled(node, (key,), document, folder, problems) if key in _SECTIONS else node
        for key, node in root.items()
    }
    return filled, problems


def _filled(node: Node, loc: Loc, document: Document, folder: Path, problems: list[Problem]) -> Node:
    if isinstance(node, list):
        return [_filled(each, (*loc, number), document, folder, problems) for number, each in enumerate(node)]
    if not isinstance(node, dict):
        return node
    if "$file" not in node:
        return {key: _filled(each, (*loc, key), document, folder, problems) for key, each in node.items()}
    try:
        return _content(node, folder)
    except IncludeError as error:
        problems.append(document.problem((*loc, "$file"), Complaint(str(error))))
        return Scalar(None, "")


def _content(node: dict[str, Node], folder: Path) -> Node:
    name = node["$file"]
    if len(node) > 1 or not isinstance(name, str) or not name:
        raise IncludeError("not readable as a file name; accepted: { $file: PATH } and no more")
    path = Path(os.path.realpath(folder / name))  # `resolve` gives up on links that lead in a circle
    if not path.is_relative_to(folder.resolve()):
        raise IncludeError(f"{name} lies outside the spec's folder; a spec may only read files beside or below it")
    return _parsed(path, name, _text(path, name))


def _text(path: Path, name: str) -> str:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise IncludeError(f"{name} is larger than {MAX_BYTES:,} bytes")
        return plain.read(path).decode("utf-8")
    except OSError as error:
        raise IncludeError(f"{name} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise IncludeError(f"{name} is not UTF-8 text") from error


def _parsed(path: Path, name: str, text: str) -> Node:
    match path.suffix.lower():
        case ".json":
            try:
                return _node(json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant))
            except (ValueError, RecursionError) as error:
                raise IncludeError(f"{name} is not JSON: {error}") from error
        case ".yaml" | ".yml":
            try:
                return read(text, name).root
            except SpecError as error:
                raise IncludeError(str(error)) from error
        case _:
            return text


def _node(value: JsonValue) -> Node:
    if isinstance(value, list):
        return [_node(each) for each in value]
    if isinstance(value, dict):
        return {key: _node(each) for key, each in value.items()}
    return value if isinstance(value, str) else Scalar(value, json.dumps(value))


def _unique(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an object has the same key twice")
    return found


def _no_constant(word: str) -> JsonValue:
    raise ValueError(f"{word} is not JSON")
