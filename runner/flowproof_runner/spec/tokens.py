"""A cursor over one line of assertion prose, whose errors point at a column and say what is accepted there."""

from __future__ import annotations

import re

from flowproof_runner.matchers.matchers import Operand, literal
from flowproof_runner.matchers.path import Path, PathError, scan, scan_quoted

_BLANKS = re.compile(r"\s*")
_WORD = re.compile(r"[^\s\"]+")
_AND = re.compile(r"\sand(?=\s|$)")
_LIST_END = re.compile(r"[,\]]")


class ProseError(ValueError):
    """A line of assertion prose cannot be read. `column` counts from 0 in that line."""

    def __init__(self, message: str, column: int) -> None:
        super().__init__(message)
        self.column = column


class Cursor:
    """Reads words, paths and values from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.column = 0
        self._skip()

    @property
    def done(self) -> bool:
        """True when only blanks were left."""
        return self.column >= len(self.text)

    def peek(self) -> str:
        """The next word, empty at the end or before a quote."""
        found = _WORD.match(self.text, self.column)
        return found.group() if found else ""

    def word(self) -> str:
        """Take the next word."""
        word = self.peek()
        self._move(self.column + len(word))
        return word

    def take(self, word: str) -> bool:
        """Take the next word if it is this one."""
        if self.peek() != word:
            return False
        self.word()
        return True

    def skip(self, length: int) -> None:
        """Take so many characters."""
        self._move(self.column + length)

    def path(self) -> tuple[Path, bool]:
        """Take a path; also says whether its first segment was in quotes."""
        quoted = self.text[self.column : self.column + 1] == '"'
        try:
            path, end = scan(self.text, self.column)
        except PathError as error:
            raise ProseError(str(error), error.column) from error
        self._move(end)
        return path, quoted

    def value(self, accepted: str) -> Operand:
        """Take a value: quoted, or everything up to ` and ` or the end."""
        if self.text[self.column : self.column + 1] == '"':
            return self._quoted()
        found = _AND.search(self.text, max(self.column - 1, 0))
        end = found.start() if found else len(self.text)
        bare = self.text[self.column : end].strip()
        if not bare:
            raise self.error(f"a value is missing here; {accepted}")
        self._move(end)
        return Operand(literal(bare), bare)

    def rest(self) -> str:
        """Take everything to the end as one text, without the quotes when all of it is quoted."""
        bare = self.text[self.column :].strip()
        if bare.startswith('"'):
            quoted = self._quoted()
            if not self.done:
                raise self.error("there is more after the closing quote; quote the whole text or none of it")
            return quoted.text
        self._move(len(self.text))
        return bare

    def list(self) -> tuple[Operand, ...]:
        """Take `[a, "b", 3]`."""
        accepted = "accepted: in [a, b]"
        if self.text[self.column : self.column + 1] != "[":
            raise self.error(f"expected '[' here; {accepted}")
        self._move(self.column + 1)
        values = [self._element(accepted)]
        while self.text[self.column : self.column + 1] == ",":
            self._move(self.column + 1)
            values.append(self._element(accepted))
        if self.text[self.column : self.column + 1] != "]":
            raise self.error(f"expected ',' or ']' here; {accepted}")
        self._move(self.column + 1)
        return tuple(values)

    def error(self, message: str, column: int | None = None) -> ProseError:
        """An error at the cursor, or at `column`."""
        return ProseError(message, self.column if column is None else column)

    def _element(self, accepted: str) -> Operand:
        if self.text[self.column : self.column + 1] == '"':
            return self._quoted()
        found = _LIST_END.search(self.text, self.column)
        if found is None:
            raise self.error(f"the list is never closed; {accepted}")
        bare = self.text[self.column : found.start()].strip()
        if not bare:
            raise self.error(f"a list element is missing here; {accepted}")
        self._move(found.start())
        return Operand(literal(bare), bare)

    def _quoted(self) -> Operand:
        try:
            text, end = scan_quoted(self.text, self.column)
        except PathError as error:
            raise ProseError(str(error), error.column) from error
        self._move(end)
        return Operand(text, text)

    def _move(self, column: int) -> None:
        self.column = column
        self._skip()

    def _skip(self) -> None:
        found = _BLANKS.match(self.text, self.column)
        self.column = found.end() if found else self.column
