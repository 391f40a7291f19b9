"""`conversation:` — what the user says, turn by turn, and what must be true of each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import BeforeValidator, Field

from flowproof_runner.expectations.ast import Kind, Step
from flowproof_runner.reading.fields import Part, Words
from flowproof_runner.reading.problems import Loc
from flowproof_runner.spec.steps import CallForm, ReplyForm, call_step, reply_step


def _several(node: object) -> object:
    """One assertion may stand without a list around it."""
    return node if isinstance(node, list | tuple) else [node]


type Calls = Annotated[
    tuple[CallForm, ...], BeforeValidator(_several, json_schema_input_type=CallForm | tuple[CallForm, ...])
]
type Replies = Annotated[
    tuple[ReplyForm, ...], BeforeValidator(_several, json_schema_input_type=ReplyForm | tuple[ReplyForm, ...])
]


class UserTurn(Part):
    """One text of the user, and assertions about what came of it, each one or a list."""

    user: Words = Field(description="What the user says.")
    assert_tool_call: Calls = Field(default=(), description="The agent calls this tool, in this order.")
    assert_no_tool_call: Calls = Field(default=(), description="The agent does not call this tool.")
    assert_tool_request: Calls = Field(default=(), description="The model asks for this tool, in this order.")
    assert_no_tool_request: Calls = Field(default=(), description="The model does not ask for this tool.")
    said: Replies = Field(default=(), alias="assert", description="What the agent's last reply to this turn says.")

    @property
    def steps(self) -> Iterator[tuple[Loc, Step]]:
        """The assertions with their places inside this entry."""
        calls: dict[Kind, Calls] = {
            "call": self.assert_tool_call,
            "no_call": self.assert_no_tool_call,
            "request": self.assert_tool_request,
            "no_request": self.assert_no_tool_request,
        }
        for kind, forms in calls.items():
            key = "assert_no_tool_" + kind.removeprefix("no_") if kind.startswith("no_") else f"assert_tool_{kind}"
            yield from (((key, number), call_step(kind, form)) for number, form in enumerate(forms))
        yield from ((("assert", number), reply_step(form)) for number, form in enumerate(self.said))
