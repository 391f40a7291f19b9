"""`pins:` — spans of a request that may differ between runs."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from flowproof_addons.matching import paths
from flowproof_runner.reading.fields import Flag, Part, Pattern, Text, Words
from flowproof_runner.reading.problems import Complaint, refuse


def _path(text: str) -> str:
    try:
        paths.parse(text)
    except paths.PathError as error:
        message = f"bad path: {error}; accepted: messages[0].content, messages[*].content, **.id"
        raise refuse(Complaint(message)) from error
    return text


class PinEntry(Part):
    """One pin; says where, what may differ and why."""

    at: Annotated[Words, AfterValidator(_path)] | None = Field(
        default=None,
        description="Path in the request body: messages[0].content, messages[*].content, **.name.",
    )
    match: Pattern | None = Field(
        default=None, description="Regular expression; its groups, or else the whole match, may differ."
    )
    kind: Literal["date", "path"] | None = Field(
        default=None, description="date: must be the real today. path: a directory, mapped to the run's own."
    )
    unordered: Flag = Field(default=False, description="The list there is compared as a set.")
    why: Text = Field(default="", description="Shown in every report.")
    name: Text = Field(default="", description="What reports call it.")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        wrong: list[Complaint] = []
        if self.at is None and self.match is None and self.kind is None:
            wrong.append(Complaint("pins everything; give at, match or kind"))
        if self.unordered and self.at is None:
            wrong.append(Complaint("needs at: which list is a set", ("unordered",)))
        if self.unordered and (self.match is not None or self.kind is not None):
            wrong.append(Complaint("does not go with match or kind", ("unordered",)))
        if wrong:
            raise refuse(*wrong)
        return self

    @property
    def label(self) -> str:
        """The name in reports, made from what it says where it has none."""
        place = self.at or "anywhere"
        what = "as a set" if self.unordered else self.kind or (f"/{self.match}/" if self.match else "any value")
        return self.name or f"{place}: {what}"
