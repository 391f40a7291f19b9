"""A YAML document whose values know their line and column."""

from __future__ import annotations

from dataclasses import dataclass, field

from flowproof_runner.reading.problems import Complaint, Loc, Problem, dotted
from flowproof_runner.reading.scalars import Node


@dataclass(frozen=True, slots=True)
class Place:
    """Where something begins, counted from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Document:
    """One YAML document with the places of all its keys and values."""

    file: str
    root: Node
    keys: dict[Loc, Place] = field(default_factory=dict)
    values: dict[Loc, Place] = field(default_factory=dict)
    verbatim: dict[Loc, Place] = field(default_factory=dict)
    """Texts that stand in the file on one line, unescaped: column n of the text is column n of the place."""
    comments: dict[Loc, str] = field(default_factory=dict)
    """Unquoted scalars cut off by a `#` with no blank behind it, with what was cut."""

    def problem(self, loc: Loc, complaint: Complaint, *, at_key: bool = False) -> Problem:
        """A complaint about the value at `loc` (or its key) with file, line and column."""
        loc = self._existing((*loc, *complaint.at))
        place = (self.keys.get(loc) if at_key else None) or self.values[loc]
        message = complaint.message
        if complaint.column is not None:
            start = self.verbatim.get(loc)
            if start is None:
                message = f"at character {complaint.column + 1} of the text: {message}"
            else:
                place = Place(start.line, start.column + complaint.column)
        return Problem(self.file, place.line, place.column, dotted(loc), message)

    def where(self, loc: Loc) -> str:
        """`file:line` of the value at `loc`, or of the nearest thing around it."""
        loc = self._existing(loc)
        return f"{self.file}:{(self.keys.get(loc) or self.values[loc]).line}"

    def _existing(self, loc: Loc) -> Loc:
        """The longest path along `loc` that leads somewhere; steps that lead nowhere are a validator's own names."""
        found: Loc = ()
        for step in loc:
            if (*found, step) in self.values:
                found = (*found, step)
        return found
