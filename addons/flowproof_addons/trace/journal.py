"""What a live boundary writes as it goes: one exchange a line, flushed at once, small in memory."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from flowproof_addons.trace.entry import Reader, Writer
from flowproof_addons.trace.file import CassetteError
from flowproof_addons.trace.json_value import FILE_DEPTH, JsonError, compact, parse
from flowproof_addons.trace.model import Exchange
from flowproof_addons.trace.redact import Redactor
from flowproof_addons.trace.shape import Node, ShapeError


class Journal:
    """An append-only file of one session, readable by its owner alone. Secrets are hidden before they are written."""

    def __init__(self, path: Path, redactor: Redactor) -> None:
        self.path = path
        self._redactor = redactor
        self._writer = Writer()
        self._arrived = 0
        self._lock = Lock()
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
        except OSError as error:
            raise CassetteError(
                f"{path}: cannot be written: {error.strerror or error}; check the run folder"
            ) from error
        self._file = open(handle, "wb")  # closed by `close`

    def arrive(self) -> int:
        """Take the next place in the order of arrival, from 0; the exchange is appended once it is answered."""
        with self._lock:
            self._arrived += 1
            return self._arrived - 1

    def append(self, exchange: Exchange, place: int | None = None) -> int:
        """Write an exchange and return its place in the order of arrival (`place`, or the next free one)."""
        where = self.arrive() if place is None else place
        hidden = self._redactor.hide_exchange(exchange)
        with self._lock:
            line = compact(self._writer.write(where + 1, hidden))
            try:
                self._file.write(line.encode() + b"\n")
                self._file.flush()
            except OSError as error:
                raise CassetteError(
                    f"{self.path}: cannot be written: {error.strerror or error}; make room, then run again"
                ) from error
        return where

    def close(self) -> None:
        """Close the file."""
        self._file.close()


@dataclass(frozen=True, slots=True)
class Recovered:
    """What a journal holds."""

    exchanges: tuple[Exchange, ...]
    """In the order in which the requests arrived."""
    torn: bool
    """The last line is cut: the boundary died while it wrote. That exchange is lost, all before it are here."""


def recover(path: Path) -> Recovered:
    """Everything in a journal, also when its writer died. Raises CassetteError when another line is damaged."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise CassetteError(f"{path}: cannot be read: {error.strerror or error}; run the flow again") from error
    torn = lines.pop() != b""
    reader = Reader()
    found: list[tuple[int, Exchange]] = []
    for number, line in enumerate(lines, 1):
        try:
            found.append(reader.read(Node(parse(line, FILE_DEPTH))))
        except (JsonError, ShapeError) as error:
            raise CassetteError(f"{path}:{number}: is damaged: {error}; run the flow again") from error
    return Recovered(tuple(exchange for _, exchange in sorted(found, key=lambda pair: pair[0])), torn)


def read(path: Path) -> tuple[Exchange, ...]:
    """The exchanges of a journal in order of arrival; a torn last line is left out (`recover` tells of it)."""
    return recover(path).exchanges
