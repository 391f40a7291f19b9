"""`expect:` as YAML holds it: prose lines and their structured twins, unknown keys refused."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag

from flowproof_runner.spec.fields import Counted, Duration, Flag, Json, Object, Part, Size, Whole, Words


def _listed(node: object) -> object:
    """One thing may be written without a list around it."""
    return node if isinstance(node, list | tuple) else [node]


Count = Annotated[Whole, Field(ge=0)]
Lines = Annotated[tuple[Words, ...], BeforeValidator(_listed)]
"""Conditions that must all hold."""


class CallsForm(Part):
    """Structured twin of a line under `calls:`."""

    calls: tuple[Words, ...] = ()
    where: Lines = ()
    at_least: Count | None = None
    at_most: Count | None = None
    exactly: Count | None = None
    as_many_as: Words | None = None
    when: Words | None = None
    only_when: Flag = False
    at: Literal["call", "request"] = "call"
    kind: Literal["required", "forbidden", "count"] = "count"


class SequenceForm(Part):
    """Structured twin of `A then B`."""

    order: Annotated[tuple[Words, ...], Field(min_length=1)]


class PrecedenceForm(Part):
    """Structured twin of `A before B`."""

    before: Words
    after: Words
    scope: Literal["informed", "first", "all"] = "informed"
    per: tuple[Words, ...] = ()
    required: Flag = True


class ArgumentsForm(Part):
    """Structured twin of a line under `args:`."""

    tool: Words
    call: Counted | None = None
    where: Lines = ()
    match: Object | None = None
    schema_: Json = Field(default=None, alias="schema")
    distinct: tuple[Words, ...] = ()
    when: Words | None = None


class ConfirmationForm(Part):
    """Structured twin of a line under `confirm:`."""

    tool: Words
    by: Words = "any"
    same_arguments: Flag = False
    approves: Words | None = None
    prompt: Annotated[tuple[Counted, ...], BeforeValidator(_listed)] = ()
    until: Counted | None = None
    where: Lines = ()


class OutcomeForm(Part):
    """What the structured outcome must be."""

    status: Words | None = None
    where: Lines = ()
    match: Object | None = None
    schema_: Json = Field(default=None, alias="schema")
    when: Words | None = None


class BudgetForm(Part):
    """Upper bounds of a run."""

    calls: Count | None = None
    turns: Count | None = None
    tokens: Count | None = None
    duration: Duration | None = None
    duration_ms: float | None = None


class LaneForm(Part):
    """What one MCP server's lane must keep to."""

    server: str = ""
    call: Duration | None = None
    call_ms: float | None = None
    result: Size | None = None
    result_bytes: Count | None = None
    errors: Flag = False
    tools: Json = None
    capabilities: Json = None


class HoldsForm(Part):
    """Structured twin of a line under `holds:`."""

    holds: Lines
    when: Words | None = None


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

    for_: Words = Field(alias="for")
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
        Field(min_length=1),
    ]


class Expect(Part):
    """The whole of `expect:`. A line of prose and its structured twin are told apart by their keys."""

    strict: Flag = False
    calls: tuple[Annotated[Line | Annotated[CallsForm, Tag("form")], Discriminator(_kind_or_form)], ...] = ()
    order: tuple[
        Annotated[
            Line | Annotated[SequenceForm, Tag("order")] | Annotated[PrecedenceForm, Tag("before")],
            Discriminator(_kind_of_order),
        ],
        ...,
    ] = ()
    args: tuple[Annotated[Line | Annotated[ArgumentsForm, Tag("form")], Discriminator(_kind_or_form)], ...] = ()
    each: tuple[EachForm, ...] = ()
    holds: tuple[Annotated[Line | Annotated[HoldsForm, Tag("form")], Discriminator(_kind_or_form)], ...] = ()
    confirm: tuple[Annotated[Line | Annotated[ConfirmationForm, Tag("form")], Discriminator(_kind_or_form)], ...] = ()
    outcome: Annotated[tuple[OutcomeForm, ...], BeforeValidator(_listed)] = ()
    budget: Annotated[tuple[BudgetForm, ...], BeforeValidator(_listed)] = ()
    mcp: tuple[LaneForm, ...] = ()
