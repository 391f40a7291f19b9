"""What is wrong with a spec, with its place: `file:line:column: key: what is wrong; what is accepted`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pydantic_core import PydanticCustomError

from flowproof_addons.errors import FlowproofError

type Loc = tuple[str | int, ...]
"""Keys and indexes from the top of a document to one of its values."""


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One thing wrong with a file that a person wrote."""

    file: str
    line: int
    """From 1; 0 where no line can be named."""
    column: int
    """From 1."""
    key: str
    """Dotted, `steps.2.assert_tool_call`; empty for the document as a whole."""
    message: str
    """What is wrong; what is accepted."""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        return f"{place}: {self.key}: {self.message}" if self.key else f"{place}: {self.message}"


class SpecError(FlowproofError):
    """A spec or suite file cannot be used; holds every problem found, in the order of the file."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(set(problems)))
        super().__init__("\n".join(map(str, self.problems)))


@dataclass(frozen=True, slots=True)
class Complaint:
    """A problem as a validator sees it, before it has a file and a line."""

    message: str
    at: Loc = ()
    """From the validated value to the part complained about."""
    column: int | None = None
    """From 0, inside the text complained about."""


def refuse(*complaints: Complaint) -> PydanticCustomError:
    """The error a pydantic validator raises to report several complaints at once."""
    return PydanticCustomError("refused", "{text}", {"text": complaints[0].message, "complaints": complaints})


def dotted(loc: Loc) -> str:
    """A location as one word."""
    return ".".join(map(str, loc))
