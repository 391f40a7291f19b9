"""`expect:` as YAML holds it: prose lines and their structured twins, unknown keys refused."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from flowproof_runner.expectations.contract.language.kinds import Lines, Listed, Percent, Quantity
from flowproof_runner.reading.fields import Count, Counted, Duration, Flag, Json, Object, Part, Size, Words


class CallsForm(Part):
    """Structured twin of a line under `calls:`."""

    calls: tuple[Words, ...] = Field(default=(), description="The tools; none means every tool.")
    where: Lines = Field(default=(), description="Only calls that meet these conditions count.")
    at_least: Count | None = Field(default=None, description="No fewer calls.")
    at_most: Count | None = Field(default=None, description="No more calls.")
    exactly: Count | None = Field(default=None, description="So many calls.")
    as_many_as: Words | None = Field(default=None, description="A list or number of this run.")
    when: Words | None = Field(default=None, description="Nothing is demanded unless this holds.")
    only_when: Flag = Field(default=False, description="With when: if it does not hold, no such call may be made.")
    at: Literal["call", "request"] = Field(
        default="call", description="call: what was carried out; request: what was asked for, carried out or not."
    )
    kind: Literal["required", "forbidden", "count"] | None = Field(
        default=None, description="forbidden: never, and critical. Otherwise told from the numbers."
    )


class SequenceForm(Part):
    """Structured twin of `A then B`."""

    order: Annotated[tuple[Words, ...], Field(min_length=1, description="The tools in their order.")]


class PrecedenceForm(Part):
    """Structured twin of `A before B`."""

    before: Words = Field(description="The tool that comes first.")
    after: Words = Field(description="The tool that comes later.")
    scope: Literal["informed", "first", "all"] = Field(
        default="informed", description="informed: the answer was known; first, all: by position only."
    )
    per: tuple[Words, ...] = Field(default=(), description="Argument paths that must agree between the two.")
    required: Flag = Field(default=True, description="With per: an agreeing call must exist.")


class ArgumentsForm(Part):
    """Structured twin of a line under `args:`."""

    tool: Words = Field(description="The tool whose calls are meant.")
    call: Counted | None = Field(default=None, description="Only this call of the tool, from 1.")
    where: Lines = Field(default=(), description="What must hold of every call.")
    match: Object | None = Field(
        default=None, description="A tree of expected values; {from: TOOL, path: PATH} and {term: TERM} refer."
    )
    schema_: Json = Field(default=None, alias="schema", description="JSON Schema 2020-12, formats included.")
    distinct: tuple[Words, ...] = Field(default=(), description="Argument paths no two calls may share.")
    when: Words | None = Field(default=None, description="Only calls for which this holds are judged.")


class ConfirmationForm(Part):
    """Structured twin of a line under `confirm:`."""

    tool: Words = Field(description="The tool whose calls need an approval each.")
    by: Words = Field(default="any", description="any, adapter, elicitation, or the tool that asks.")
    same_arguments: Flag = Field(default=False, description="The approval must name exactly these arguments.")
    approves: Words | None = Field(default=None, description="What the asking tool's answer must say.")
    prompt: Annotated[tuple[Counted, ...], Listed()] = Field(
        default=(), description="In place of by: the prompts that each say yes to one call."
    )
    until: Counted | None = Field(default=None, description="The prompt that takes it back.")
    where: Lines = Field(default=(), description="With prompt: the calls it says yes to.")


class OutcomeForm(Part):
    """What the structured outcome must be."""

    status: Words | None = Field(default=None, description="How the run must have ended.")
    where: Lines = Field(default=(), description="Conditions on out and whatever else was seen.")
    match: Object | None = Field(default=None, description="A tree of expected values.")
    schema_: Json = Field(default=None, alias="schema", description="JSON Schema 2020-12, formats included.")
    when: Words | None = Field(default=None, description="Nothing is demanded unless this holds.")


class BudgetForm(Part):
    """Upper bounds of a run."""

    calls: Count | None = Field(default=None, description="Calls of tools.")
    turns: Count | None = Field(default=None, description="Requests to the model.")
    tokens: Quantity | None = Field(default=None, description="Tokens in and out.")
    duration: Duration | None = Field(default=None, description="Time from start to end.")
    duration_ms: float | None = Field(default=None, description="The same in milliseconds.")


class LaneForm(Part):
    """What one MCP server's lane must keep to."""

    server: str = Field(default="", description="Empty: every server.")
    call: Duration | None = Field(default=None, description="How long an answer may take.")
    call_ms: float | None = Field(default=None, description="The same in milliseconds.")
    share: Percent | None = Field(default=None, description="With call: percent of the answers that must keep it.")
    result: Size | None = Field(default=None, description="How large an answer may be.")
    result_bytes: Count | None = Field(default=None, description="The same in bytes.")
    errors: Flag = Field(default=False, description="Tool errors are findings.")
    tools: Json = Field(default=None, description="The catalogue it is held to.")
    capabilities: Json = Field(default=None, description="The capabilities it is held to.")


class HoldsForm(Part):
    """Structured twin of a line under `holds:`."""

    holds: Annotated[Lines, Field(min_length=1, description="Conditions on the run.")]
    when: Words | None = Field(default=None, description="Nothing is demanded unless this holds.")


def _kind(node: object) -> str:
    """Which form a node is meant to be, by the key that only that form has."""
    if not isinstance(node, dict):
        return "line"
    return next((key for key in ("order", "before", "tool", "holds", "for") if key in node), "calls")


def _kind_of_order(node: object) -> str:
    kind = _kind(node)
    return kind if kind in ("line", "order") else "before"


def _kind_or_form(node: object) -> str:
    return "form" if isinstance(node, dict) else "line"


Line = Annotated[Words, Tag("line")]
"""A line of prose."""


class EachForm(Part):
    """Expectations on every element of a collection."""

    for_: Words = Field(alias="for", description="COLLECTION as NAME.")
    expect: Annotated[
        tuple[
            Annotated[
                Line
                | Annotated[CallsForm, Tag("calls")]
                | Annotated[ArgumentsForm, Tag("tool")]
                | Annotated[PrecedenceForm, Tag("before")]
                | Annotated[SequenceForm, Tag("order")]
                | Annotated[HoldsForm, Tag("holds")]
                | Annotated[EachForm, Tag("for")],
                Discriminator(_kind),
            ],
            ...,
        ],
        Field(min_length=1, description="What holds for each; lines are those of calls."),
    ]


class Expect(Part):
    """The whole of `expect:`. A line of prose and its structured twin are told apart by their keys."""

    strict: Flag = Field(default=False, description="An expectation that nothing put to the test fails the run.")
    calls: tuple[Annotated[Line | Annotated[CallsForm, Tag("form")], Discriminator(_kind_or_form)], ...] = Field(
        default=(), description="How often tools are called."
    )
    order: tuple[
        Annotated[
            Line | Annotated[SequenceForm, Tag("order")] | Annotated[PrecedenceForm, Tag("before")],
            Discriminator(_kind_of_order),
        ],
        ...,
    ] = Field(default=(), description="Which call comes before which.")
    args: tuple[Annotated[Line | Annotated[ArgumentsForm, Tag("form")], Discriminator(_kind_or_form)], ...] = Field(
        default=(), description="What calls carry."
    )
    each: tuple[EachForm, ...] = Field(default=(), description="What holds for every element of a collection.")
    holds: tuple[Annotated[Line | Annotated[HoldsForm, Tag("form")], Discriminator(_kind_or_form)], ...] = Field(
        default=(), description="Conditions on the run as a whole."
    )
    confirm: tuple[Annotated[Line | Annotated[ConfirmationForm, Tag("form")], Discriminator(_kind_or_form)], ...] = (
        Field(default=(), description="Calls that need an approval of their own.")
    )
    outcome: Annotated[
        tuple[Annotated[Line | Annotated[OutcomeForm, Tag("form")], Discriminator(_kind_or_form)], ...], Listed()
    ] = Field(default=(), description="What the structured outcome must be.")
    budget: Annotated[
        tuple[Annotated[Line | Annotated[BudgetForm, Tag("form")], Discriminator(_kind_or_form)], ...], Listed()
    ] = Field(default=(), description="What the run may use.")
    mcp: Annotated[
        tuple[Annotated[Line | Annotated[LaneForm, Tag("form")], Discriminator(_kind_or_form)], ...], Listed()
    ] = Field(default=(), description="What MCP servers must keep to.")
