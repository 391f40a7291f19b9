"""`expect:` of version 0.1, exactly as that format has it."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from flowproof_runner.reading.fields import Flag, Json, Object, Part, Whole, Words
from flowproof_runner.reading.problems import Complaint, refuse

Count = Annotated[Whole, Field(ge=0)]
Paths = Annotated[tuple[Words, ...], Field(min_length=1)]


class Condition(Part):
    """Something about the outcome: a value, a list that is not empty, or either of several."""

    outcomePath: Words | None = None
    equals: Json = Field(default=None)
    nonEmpty: Flag | None = None
    any_of: tuple[Condition, ...] | None = Field(default=None, alias="$anyOf")

    @model_validator(mode="after")
    def _one_predicate(self) -> Self:
        given = self.model_fields_set
        if self.any_of is not None:
            if given != {"any_of"}:
                raise refuse(Complaint("$anyOf stands alone"))
            if len(self.any_of) < 2:
                raise refuse(Complaint("$anyOf needs two conditions or more", ("$anyOf",)))
            return self
        if self.outcomePath is None:
            raise refuse(Complaint("needs outcomePath, or $anyOf"))
        if ("equals" in given) == ("nonEmpty" in given):
            raise refuse(Complaint("needs exactly one of equals and nonEmpty, else it could never hold"))
        if self.nonEmpty is False:
            raise refuse(Complaint("nonEmpty: false says nothing; write equals: []", ("nonEmpty",)))
        return self


class ConditionalTool(Part):
    """A tool that is called exactly when a condition holds."""

    tool: Words
    when: Condition


class Precedence01(Part):
    """One tool before another."""

    before: Words
    after: Words
    scope: Literal["all", "first"] | None = None
    correlate: Paths | None = None


class Budget01(Part):
    """How often one tool is called."""

    tool: Words
    minCalls: Count | None = None
    maxCalls: Count | None = None
    callsMatchOutcome: Words | None = None

    @model_validator(mode="after")
    def _something(self) -> Self:
        if self.minCalls is None and self.maxCalls is None and self.callsMatchOutcome is None:
            raise refuse(Complaint("needs minCalls, maxCalls or callsMatchOutcome"))
        return self


class Arguments01(Part):
    """What a tool's calls carry."""

    tool: Words
    callIndex: Count | None = None
    match: Object | None = None
    schema_: Json = Field(default=None, alias="schema")
    distinct: Paths | None = None


class Tools01(Part):
    """`expect.tools`."""

    required: tuple[Words | ConditionalTool, ...] = ()
    forbidden: tuple[Words, ...] = ()
    order: tuple[Words, ...] = ()
    precedence: Annotated[tuple[Precedence01, ...], Field(min_length=1)] | None = None
    maxCalls: Count | None = None
    budgets: Annotated[tuple[Budget01, ...], Field(min_length=1)] | None = None
    arguments: tuple[Arguments01, ...] = ()


class Confirmation01(Part):
    """`expect.confirmation`."""

    requiredBefore: tuple[Words, ...]
    bindArguments: Flag = False


class OutcomeWhen(Part):
    """A match that is only demanded if a condition holds."""

    when: Condition
    match: Json


class Outcome01(Part):
    """`expect.outcome`."""

    status: Words
    match: Json = None
    schema_: Json = Field(default=None, alias="schema")
    when: Annotated[tuple[OutcomeWhen, ...], Field(min_length=1)] | None = None


class Expect01(Part):
    """The whole of `expect:`."""

    tools: Tools01 = Tools01()
    confirmation: Confirmation01 | None = None
    outcome: Outcome01 | None = None
