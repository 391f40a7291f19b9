"""Text of a stream rewritten across its frames: a word that arrives in pieces is found and replaced as one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from flowproof_addons.trace import frame as single
from flowproof_addons.trace.frame import Frame
from flowproof_addons.trace.model import JsonValue
from flowproof_addons.trace.pointer import Path, put

OPAQUE = frozenset({"signature", "thoughtSignature", "thought_signature", "redactedContent"})
"""Members that a provider checks byte for byte, as every `encrypted_...` one: nobody may change them."""
_OPAQUE_DATA = ("redacted_thinking", "reasoning.encrypted")
"""Types of the objects whose `data` is such a member."""

_ORDINALS = ("index", "output_index", "content_index", "summary_index")


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace `text[start:end]` by `new`."""

    start: int
    end: int
    new: str


type Edits = Callable[[str], Sequence[Edit]]
"""What to change in a text: edits in order, without overlap."""


@dataclass(frozen=True, slots=True)
class _Piece:
    frame: int
    path: Path | None
    """None: the frame is not JSON, its whole text is the piece."""
    text: str


def is_opaque(key: str, parent: Mapping[str, JsonValue]) -> bool:
    """True for a member of `parent` that nobody may change."""
    return key in OPAQUE or key.startswith("encrypted_") or (key == "data" and parent.get("type") in _OPAQUE_DATA)


def apply(text: str, edits: Sequence[Edit]) -> str:
    """The text after the edits."""
    for edit in reversed(edits):
        text = text[: edit.start] + edit.new + text[edit.end :]
    return text


def streams(frames: Sequence[bytes]) -> list[str]:
    """The texts that a reader of the stream puts together, one for each place in its frames."""
    return ["".join(piece.text for piece in pieces) for pieces in _streams([_read(raw) for raw in frames]).values()]


def rewrite(frames: Sequence[bytes], edits: Edits) -> tuple[bytes, ...]:
    """The frames with the edits made; what replaces a text in several pieces goes where its first piece was.

    Frames without a change keep their bytes.
    """
    parsed = [_read(raw) for raw in frames]
    changed: dict[int, Frame | str] = {}
    for pieces in _streams(parsed).values():
        found = edits("".join(piece.text for piece in pieces))
        for piece, text in _spread(pieces, found) if found else ():
            current = changed.get(piece.frame, parsed[piece.frame])
            if piece.path is None or isinstance(current, str):
                changed[piece.frame] = text
            else:
                changed[piece.frame] = replace(current, payload=put(current.payload, piece.path, text))
    return tuple(_bytes(changed[index]) if index in changed else raw for index, raw in enumerate(frames))


def _read(raw: bytes) -> Frame | str:
    return single.read(raw) or raw.decode("utf-8", "surrogateescape")


def _bytes(frame: Frame | str) -> bytes:
    return frame.encode("utf-8", "surrogateescape") if isinstance(frame, str) else frame.render()


def _streams(parsed: Sequence[Frame | str]) -> dict[tuple[object, ...], list[_Piece]]:
    found: dict[tuple[object, ...], list[_Piece]] = {}
    for number, frame in enumerate(parsed):
        if isinstance(frame, str):
            found.setdefault((), []).append(_Piece(number, None, frame))
            continue
        kind = frame.payload.get("type") if isinstance(frame.payload, dict) else None
        for key, path, text in _texts(frame.payload, (), ()):
            found.setdefault((frame.event, kind, *key), []).append(_Piece(number, path, text))
    return found


def _texts(value: JsonValue, key: tuple[object, ...], path: Path) -> Iterator[tuple[tuple[object, ...], Path, str]]:
    """Every text with what tells its stream from others: the path to it and the ordinals beside that path."""
    if isinstance(value, str):
        yield key, path, value
    elif isinstance(value, dict):
        key = (*key, *(value.get(name) for name in _ORDINALS))
        for name, child in value.items():
            if not is_opaque(name, value):
                yield from _texts(child, (*key, name), (*path, name))
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from _texts(child, (*key, index), (*path, index))


def _spread(pieces: Sequence[_Piece], edits: Sequence[Edit]) -> Iterator[tuple[_Piece, str]]:
    """The pieces that change, with their new text."""
    offset = 0
    for piece in pieces:
        end = offset + len(piece.text)
        text, at = "", offset
        for edit in edits:
            if edit.end <= at or edit.start >= end:
                continue
            text += piece.text[at - offset : max(edit.start, at) - offset]
            text += edit.new if edit.start >= offset else ""
            at = min(edit.end, end)
        text += piece.text[at - offset :]
        if text != piece.text:
            yield piece, text
        offset = end
