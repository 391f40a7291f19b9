"""`tools:` — results substituted at a boundary: one for all calls, one per call, or by case."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from flowproof_runner.matchers.matchers import subset
from flowproof_runner.reading.fields import Counted, Flag, Json, Object, Part, Text
from flowproof_runner.reading.problems import Complaint, refuse

TOOL = r"^[A-Za-z0-9_./:-]+$"

_WAYS = ("result", "results", "cases")


class Case(Part):
    """One of a tool's results, with the calls it is for; no selector: all that are left."""

    call: Counted | None = Field(default=None, description="Only the nth call of this tool, from 1.")
    where: Object | None = Field(default=None, description="Only calls whose arguments contain this.")
    result: Json = Field(description="What the model is told; { $file: PATH } reads it from a file.")
    is_error: Flag = Field(default=False, description="The result is the tool's error.")

    def shadows(self, other: Case) -> bool:
        """True when every call that `other` is for, this one is for too."""
        return (self.call is None or self.call == other.call) and (
            self.where is None or (other.where is not None and subset(self.where, other.where))
        )


class Tool(Part):
    """One tool; without a result it is only declared."""

    name: Annotated[Text, Field(pattern=TOOL)] = Field(description="The tool's name as the model sees it.")
    result: Json = Field(default=None, description="What every call returns; { $file: PATH } reads it from a file.")
    results: tuple[Json, ...] = Field(default=(), description="What each call returns, in order; one call more fails.")
    cases: tuple[Case, ...] = Field(default=(), description="What calls return by number and arguments.")
    is_error: Flag = Field(default=False, description="With result or results: they are errors of the tool.")

    @property
    def mocked(self) -> bool:
        """True when the spec gives any result."""
        return bool(self.model_fields_set.intersection(_WAYS))

    @property
    def repeated(self) -> bool:
        """True when one result serves every call."""
        return "result" in self.model_fields_set

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        given = [way for way in _WAYS if way in self.model_fields_set]
        wrong: list[Complaint] = []
        if len(given) > 1:
            wrong.append(Complaint(f"at most one of result, results and cases; found {' and '.join(given)}"))
        if given and given != ["result"] and not (self.results or self.cases):
            wrong.append(Complaint("is empty; give at least one, or leave the key out to only declare it", (given[0],)))
        if "is_error" in self.model_fields_set and "cases" in given:
            wrong.append(Complaint("stands at each case instead", ("is_error",)))
        if "is_error" in self.model_fields_set and not given:
            wrong.append(Complaint("needs a result", ("is_error",)))
        wrong.extend(_unreachable(self.cases))
        if wrong:
            raise refuse(*wrong)
        return self


def _unreachable(cases: tuple[Case, ...]) -> list[Complaint]:
    """Cases that an earlier one always wins against."""
    return [
        Complaint(f"is never reached: case {earlier + 1} fits every call it fits; put it first", ("cases", number))
        for number, case in enumerate(cases)
        for earlier in [next((e for e in range(number) if cases[e].shadows(case)), None)]
        if earlier is not None
    ]
