"""What the steps of a spec say, whichever way they were written: prose and structured twins are equal here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from flowproof_runner.matchers.matchers import Matcher
from flowproof_runner.matchers.path import Path

type Subject = Literal["arguments", "result", "is_error"]
"""What a clause looks into: a call's arguments, its result, or whether the result was an error."""

type Kind = Literal["call", "no_call", "request", "no_request"]


@dataclass(frozen=True, slots=True)
class Clause:
    """One demand on one value of a call."""

    path: Path
    matcher: Matcher
    subject: Subject = "arguments"


@dataclass(frozen=True, slots=True)
class CallAssertion:
    """`assert_tool_call`, `assert_no_tool_call`, `assert_tool_request`, `assert_no_tool_request`."""

    kind: Kind
    tool: str
    clauses: tuple[Clause, ...] = ()
    times: int | None = None
    """Exactly this many such calls in the whole run."""
    at: Literal["model", "mcp"] | None = None
    """Judge what the model decided, or what reached an MCP server; None: a call as the docs define it."""


@dataclass(frozen=True, slots=True)
class ReplyAssertion:
    """`assert: reply ...`."""

    matcher: Matcher


@dataclass(frozen=True, slots=True)
class Prompt:
    """`prompt: ...`."""

    text: str


@dataclass(frozen=True, slots=True)
class NoEgress:
    """`assert_no_egress`."""


@dataclass(frozen=True, slots=True)
class NoSideEffect:
    """`assert_no_side_effect: fs_write`."""

    allowed: tuple[str, ...] = ()
    """Globs of paths that may be written."""


@dataclass(frozen=True, slots=True)
class NoSecretLeak:
    """`assert_no_secret_leak: ${NAME}`."""

    variables: tuple[str, ...]
    """Names of the environment variables that hold the secrets."""


type Step = Prompt | CallAssertion | ReplyAssertion | NoEgress | NoSideEffect | NoSecretLeak


@dataclass(frozen=True, slots=True)
class PlacedStep:
    """A step and where it stands."""

    step: Step
    number: int
    """Position among all steps, from 1."""
    where: str
    """`file:line`."""
    user_turn: int | None = None
    """In a conversation: the user turn it judges, from 1; None: all of the run."""
