"""`steps:` — prompts and assertions, each one a mapping with one key."""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Discriminator, Field, PlainValidator, Tag, WithJsonSchema, model_validator

from flowproof_runner.expectations.ast import (
    CallAssertion,
    Clause,
    Kind,
    NoEgress,
    NoSecretLeak,
    NoSideEffect,
    Prompt,
    ReplyAssertion,
    Step,
)
from flowproof_runner.matchers.matchers import Equals, Exactly, Subset, operand
from flowproof_runner.matchers.path import Path
from flowproof_runner.reading.fields import Counted, Flag, Json, Object, Part, Text, Words, kind
from flowproof_runner.reading.problems import Complaint, refuse
from flowproof_runner.reading.scalars import Node, value
from flowproof_runner.spec import prose, structured
from flowproof_runner.spec.tokens import ProseError
from flowproof_runner.spec.tools import TOOL

BARE = ("assert_no_egress",)
"""Steps that are one word."""

_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def _call(node: Node) -> CallAssertion:
    try:
        return prose.call(str(node), "call")
    except ProseError as error:
        raise refuse(Complaint(str(error), (), error.column)) from error


def _reply(node: Node) -> ReplyAssertion:
    try:
        return prose.reply(str(node))
    except ProseError as error:
        raise refuse(Complaint(str(error), (), error.column)) from error


def _form(node: object) -> str:
    return "prose" if isinstance(node, str) else "structured"


def _leaks(node: Node) -> tuple[str, ...]:
    """The names of the variables; the values must never stand in a spec."""
    entries = node if isinstance(node, list) else [node]
    found = [_REFERENCE.fullmatch(entry) if isinstance(entry, str) else None for entry in entries]
    wrong = [
        Complaint(f"{kind(entry)} is no variable; accepted: ${{NAME}}, or a list of them")
        for entry, name in zip(entries, found, strict=True)
        if name is None
    ]
    if wrong or not found:
        raise refuse(*(wrong or [Complaint("names no variable; accepted: ${NAME}, or a list of them")]))
    return tuple(name[1] for name in found if name)


class StructuredCall(Part):
    """The structured twin of a tool assertion."""

    tool: Annotated[Text, Field(pattern=TOOL)] = Field(description="The tool, by any of its names.")
    where: Annotated[
        tuple[Clause, ...],
        PlainValidator(structured.clauses),
        WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "object"}]}),
    ] = Field(default=(), description="Clauses, as prose or as { PATH: VALUE }.")
    args: Object | None = Field(default=None, description="The arguments hold at least this.")
    args_exact: Object | None = Field(default=None, description="The arguments are exactly this.")
    result: Json = Field(default=None, description="The result holds at least this.")
    is_error: Flag | None = Field(default=None, description="Whether the result is an error.")
    times: Counted | None = Field(default=None, description="Exactly this many such calls in the run.")
    at: Literal["model", "mcp"] | None = Field(default=None, description="What the model decided, or reached a server.")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.args is not None and self.args_exact is not None:
            raise refuse(Complaint("does not go with args", ("args_exact",)))
        return self

    def assertion(self, kind: Kind) -> CallAssertion:
        """The same in the form prose has."""
        return CallAssertion(kind, self.tool, self.where + tuple(self._whole()), self.times, self.at)

    def _whole(self) -> list[Clause]:
        found: list[Clause] = []
        if self.args is not None:
            found.append(Clause(Path(), Subset(self.args)))
        if self.args_exact is not None:
            found.append(Clause(Path(), Exactly(self.args_exact)))
        if "result" in self.model_fields_set:
            found.append(Clause(Path(), Subset(self.result), "result"))
        if self.is_error is not None:
            found.append(Clause(Path(), Equals(operand(self.is_error)), "is_error"))
        return found


class StructuredReply(Part):
    """The structured twin of a reply assertion."""

    reply: Annotated[ReplyAssertion, PlainValidator(structured.reply), WithJsonSchema({"type": "object"})] = Field(
        description="{ contains: TEXT }, { equals: TEXT }, { matches: REGEX } or { not: ... }."
    )


Bare = Annotated[Literal[True], BeforeValidator(value)]
type CallForm = Annotated[
    Annotated[CallAssertion, PlainValidator(_call), WithJsonSchema({"type": "string"}), Tag("prose")]
    | Annotated[StructuredCall, Tag("structured")],
    Discriminator(_form),
]
type ReplyForm = Annotated[
    Annotated[ReplyAssertion, PlainValidator(_reply), WithJsonSchema({"type": "string"}), Tag("prose")]
    | Annotated[StructuredReply, Tag("structured")],
    Discriminator(_form),
]


def call_step(kind: Kind, form: CallForm) -> CallAssertion:
    """A tool assertion of either form under a key that says what kind it is."""
    if isinstance(form, StructuredCall):
        return form.assertion(kind)
    return CallAssertion(kind, form.tool, form.clauses, form.times, form.at)


def reply_step(form: ReplyForm) -> ReplyAssertion:
    """A reply assertion of either form."""
    return form.reply if isinstance(form, StructuredReply) else form


class SideEffect(Part):
    """`assert_no_side_effect:` with exceptions."""

    what: Literal["fs_write"] = Field(description="Writing, replacing, renaming or removing files.")
    allowed: tuple[Words, ...] = Field(default=(), alias="except", description="Globs of paths that may be written.")


def _side_effect(node: object) -> object:
    """`assert_no_side_effect: fs_write` is short for `{what: fs_write}`."""
    return {"what": node} if isinstance(node, str) else node


type SideEffectForm = Annotated[
    SideEffect, BeforeValidator(_side_effect, json_schema_input_type=Literal["fs_write"] | SideEffect)
]


class StepEntry(Part):
    """One step; exactly one key."""

    prompt: Words | None = Field(default=None, description="Part of the task; all prompts together are delivered once.")
    assert_tool_call: CallForm | None = Field(default=None, description="The agent calls this tool, in this order.")
    assert_no_tool_call: CallForm | None = Field(default=None, description="The agent never calls this tool.")
    assert_tool_request: CallForm | None = Field(default=None, description="The model asks for this tool, in order.")
    assert_no_tool_request: CallForm | None = Field(default=None, description="The model never asks for this tool.")
    said: ReplyForm | None = Field(default=None, alias="assert", description="What the agent's last reply says.")
    assert_no_egress: Bare | None = Field(default=None, description="Nothing undeclared was reached.")
    assert_no_side_effect: SideEffectForm | None = Field(default=None, description="No file was written or removed.")
    assert_no_secret_leak: (
        Annotated[
            tuple[str, ...],
            PlainValidator(_leaks),
            WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
        ]
        | None
    ) = Field(default=None, description="The values of these variables are nowhere in the trace.")

    @model_validator(mode="after")
    def _one_key(self) -> Self:
        given = [type(self).model_fields[name].alias or name for name in self.model_fields_set]
        if len(given) != 1:
            found = " and ".join(sorted(given)) or "none"
            raise refuse(Complaint(f"a step has exactly one key, found {found}"))
        return self

    @property
    def step(self) -> Step:
        """What the step says."""
        calls: dict[Kind, CallAssertion | StructuredCall | None] = {
            "call": self.assert_tool_call,
            "no_call": self.assert_no_tool_call,
            "request": self.assert_tool_request,
            "no_request": self.assert_no_tool_request,
        }
        for name, form in calls.items():
            if form is not None:
                return call_step(name, form)
        if self.said is not None:
            return reply_step(self.said)
        if self.assert_no_secret_leak is not None:
            return NoSecretLeak(self.assert_no_secret_leak)
        if self.prompt is not None:
            return Prompt(self.prompt)
        if self.assert_no_side_effect is not None:
            return NoSideEffect(self.assert_no_side_effect.allowed)
        return NoEgress()


def _bare(node: object) -> object:
    """`- assert_no_egress` is a step that is one word."""
    if isinstance(node, str) and node in BARE:
        return {node: True}
    if isinstance(node, str):
        raise refuse(Complaint(f"{node!r} is no step; accepted: KEY: VALUE, or the bare word {' or '.join(BARE)}"))
    return node


StepForm = Annotated[StepEntry, BeforeValidator(_bare)]
"""A step as it is written."""
