"""Cassettes on disk: `load` and `save` of `*.trace.json`, format version 1. `load(save(trace)) == trace`.

The format is described in docs/cassette-format.md.
"""

from __future__ import annotations

import re
from collections.abc import Set
from pathlib import Path

from flowproof_addons.errors import FlowproofError
from flowproof_addons.trace import atomic, blobs, plain
from flowproof_addons.trace.entry import Reader, Writer
from flowproof_addons.trace.json_value import FILE_DEPTH, JsonError, parse
from flowproof_addons.trace.model import Exchange, JsonValue, Trace
from flowproof_addons.trace.place import line_of
from flowproof_addons.trace.pretty import pretty
from flowproof_addons.trace.shape import Node, ShapeError

FORMAT = 1
"""The major version of the format that this code reads and writes."""

_KNOWN = frozenset("flowproof recorded_by recorded_at spec model side_calls faulted mcp mocks".split())
_CONFLICT = re.compile(r"^(<{7}|={7}|>{7}|\|{7})(?: |$)", re.MULTILINE)


class CassetteError(FlowproofError):
    """A cassette that cannot be read or written; the message is `file:line: what; what to do`."""


def blob_folder(path: Path) -> Path:
    """Where the large bodies of a trace lie: `x.trace.json` -> `x.trace.blobs`."""
    return path.with_name(path.name.removesuffix(".json") + ".blobs")


def load(path: Path) -> Trace:
    """The trace in a file. Raises CassetteError."""
    text = _text(path)
    try:
        value = parse(text, FILE_DEPTH)
    except JsonError as error:
        raise _unreadable(path, text, error) from error
    try:
        return _trace(Node(value), blob_folder(path))
    except ShapeError as error:
        raise CassetteError(
            f"{path}:{line_of(text, error.path)}: {error}; mend it by hand, or record the flow again"
        ) from error


def save(path: Path, trace: Trace) -> None:
    """Write a trace, whole or not at all: until the last moment the old file stays as it was. Raises CassetteError."""
    used: dict[str, bytes] = {}
    document = _document(trace, used)
    try:
        with atomic.locked(path.parent):
            folder = blob_folder(path)
            for digest, data in used.items():
                atomic.write_once(folder / digest, data)
            atomic.write(path, (pretty(document) + "\n").encode())
            _sweep(folder, keep=used.keys())
    except OSError as error:
        raise CassetteError(
            f"{path}: cannot be written: {error.strerror or error}; nothing was changed: "
            "make room or give write access to the folder, then record again"
        ) from error


def _text(path: Path) -> str:
    try:
        data = plain.read(path)
    except FileNotFoundError as error:
        raise CassetteError(f"{path}: there is no such cassette; record the flow first") from error
    except OSError as error:
        raise CassetteError(
            f"{path}: cannot be read: {error.strerror or error}; check the path and its rights"
        ) from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise CassetteError(f"{path}:{line}: is not UTF-8 text; restore the file, or record the flow again") from error


def _unreadable(path: Path, text: str, error: JsonError) -> CassetteError:
    if conflict := _CONFLICT.search(text):
        line = text.count("\n", 0, conflict.start()) + 1
        return CassetteError(
            f"{path}:{line}: holds a merge conflict ({conflict[1]}); take one side whole "
            "(git checkout --ours or --theirs), or record the flow again"
        )
    if not text.strip():
        return CassetteError(f"{path}: is empty; restore the file, or record the flow again")
    where = f":{error.line}" if error.line is not None else ""
    if error.line is not None and not text[_offset(text, error) :].strip():
        return CassetteError(
            f"{path}{where}: the file is cut: it ends in the middle; restore it, or record the flow again"
        )
    return CassetteError(f"{path}{where}: is not JSON: {error.what}; restore the file, or record the flow again")


def _offset(text: str, error: JsonError) -> int:
    lines = text.split("\n")
    line, column = error.line or 1, error.column or 1
    return sum(len(before) + 1 for before in lines[: line - 1]) + column - 1


def _document(trace: Trace, used: dict[str, bytes]) -> JsonValue:
    turns: list[JsonValue] = []
    side_calls: list[JsonValue] = []
    writer = Writer()
    for number, exchange in enumerate(trace.exchanges, 1):
        entry = blobs.take_out(writer.write(number, exchange), used.__setitem__)
        (turns if exchange.is_turn else side_calls).append(entry)
    after = len(trace.exchanges) + 1
    faulted: list[JsonValue] = [
        blobs.take_out(writer.write(number, exchange), used.__setitem__)
        for number, exchange in enumerate(trace.faulted, after)
    ]
    document: dict[str, JsonValue] = {
        "flowproof": FORMAT,
        "recorded_by": trace.recorded_by,
        "recorded_at": trace.recorded_at,
        "spec": trace.spec,
        "model": {"turns": turns},
    }
    if side_calls:
        document["side_calls"] = side_calls
    if faulted:
        document["faulted"] = faulted
    if trace.mcp:
        document["mcp"] = dict(trace.mcp)
    if trace.mocks is not None:
        document["mocks"] = trace.mocks
    return {**document, **{key: value for key, value in trace.extra.items() if key not in _KNOWN}}


def _trace(node: Node, folder: Path) -> Trace:
    members = node.members()
    _check_version(node)
    exchanges = _exchanges(node, folder)
    return Trace(
        recorded_by=node.get("recorded_by").text(),
        recorded_at=node.get("recorded_at").text(),
        spec=node.get("spec").text(),
        exchanges=tuple(exchange for exchange in exchanges if exchange.fault is None),
        faulted=tuple(exchange for exchange in exchanges if exchange.fault is not None),
        mcp={name: lane.value for name, lane in members["mcp"].members().items()} if "mcp" in members else {},
        mocks=members["mocks"].value if "mocks" in members else None,
        extra={key: member.value for key, member in members.items() if key not in _KNOWN},
    )


def _check_version(node: Node) -> None:
    if not node.has("flowproof"):
        raise node.wrong("is not a cassette: `flowproof` with the format's version is missing")
    version = node.get("flowproof")
    if version.integer() != FORMAT:
        raise version.wrong(
            f"the cassette has format {version.value!r}, this flowproof reads format {FORMAT}"
            + (": upgrade flowproof" if version.integer() > FORMAT else "")
        )


def _exchanges(node: Node, folder: Path) -> tuple[Exchange, ...]:
    """Turns, side calls and faulted requests, by their numbers."""
    entries = [(entry, "turn") for entry in node.get("model").get("turns").items()]
    if node.has("side_calls"):
        entries += [(entry, "side call") for entry in node.get("side_calls").items()]
    if node.has("faulted"):
        entries += [(entry, "faulted") for entry in node.get("faulted").items()]
    reader = Reader()
    exchanges = []
    for entry, kind in sorted(entries, key=lambda pair: pair[0].get("n").integer()):
        exchange = reader.read(blobs.put_back(entry, lambda digest: _fetch(digest, folder)))[1]
        if exchange.is_turn is (kind == "side call"):
            raise entry.wrong("a side call has no `dialect`" if exchange.is_turn else "a turn has a `dialect`")
        if (exchange.fault is not None) is not (kind == "faulted"):
            raise entry.wrong("only what stands under `faulted` has a `fault`, and all of it")
        exchanges.append(exchange)
    return tuple(exchanges)


def _fetch(digest: Node, folder: Path) -> bytes:
    path = folder / digest.text()
    try:
        data = plain.read(path)
    except OSError as error:
        raise digest.wrong(f"the body stored in {path} cannot be read ({error.strerror or error})") from error
    if blobs.digest(data) != digest.text():
        raise digest.wrong(f"the body stored in {path} is not the one recorded (its digest differs)")
    return data


def _sweep(folder: Path, keep: Set[str]) -> None:
    """Remove the bodies that the new trace no longer names."""
    if not folder.is_dir():
        return
    for path in folder.iterdir():
        if blobs.is_digest(path.name) and path.name not in keep:
            path.unlink()
    if not any(folder.iterdir()):
        folder.rmdir()
