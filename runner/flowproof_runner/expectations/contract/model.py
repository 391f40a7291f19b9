"""The expectations of a contract, as prose, YAML and imported contracts all compile to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.expectations.contract.terms import Formula, Term

type At = Literal["call", "request"]
type Enforcement = Literal["forbidden", "confirmation"]
"""Which rules of a contract refuse calls before they are dispatched."""
"""`call`: what was carried out where that is observed; `request`: what was asked for, carried out or not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """Something that must hold of a run."""

    id: str = ""
    """Place in the contract: `calls[2]`."""
    where: str = ""
    """`file:line`, where known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls(Expectation):
    """How often some tools are called."""

    tools: tuple[str, ...] = ()
    """Empty: every tool."""
    such: Formula | None = None
    """Only calls meeting this count."""
    at_least: int | None = None
    at_most: int | None = None
    as_many_as: Term | None = None
    """The number, or the length of the list, that the calls must equal."""
    when: Formula | None = None
    """Only demanded if this holds."""
    only_when: bool = False
    """With `when`: the calls are forbidden if it does not hold."""
    at: At = "call"
    kind: Literal["required", "forbidden", "count"] = "count"
    """Which finding a violation is; `forbidden` is a critical one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order(Expectation):
    """The tools are called in this order, with anything in between; calls of one parallel message are unordered."""

    tools: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Precedence(Expectation):
    """A call of `after` was informed by a call of `before`."""

    before: str
    after: str
    scope: Literal["informed", "first", "all"] = "informed"
    """`informed`: the answer was known when `after` was decided; `first`, `all`: by position only."""
    per: tuple[tuple[str, ...], ...] = ()
    """Argument paths that must agree between the two; without an agreeing `before` nothing is demanded."""
    required: bool = True
    """With `per`: an agreeing `before` must exist."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments(Expectation):
    """What the calls of a tool must carry."""

    tool: str
    call: int | None = None
    """Only the nth call of the tool, from 0."""
    such: Formula | None = None
    schema: JsonValue = None
    distinct: tuple[tuple[str, ...], ...] = ()
    when: Formula | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation(Expectation):
    """A call needs an approval of its own, given before it and not taken back."""

    tool: str
    by: str = "any"
    """`any`, `adapter`, `elicitation`, or the name of the tool that asks; not read where `prompts` are."""
    bound: bool = False
    """The approval must name exactly these arguments."""
    approves: Formula | None = None
    """For an asking tool: what its answer must say; default is a yes in the usual forms."""
    prompts: tuple[int, ...] = ()
    """Prompts that each say yes to one call, from 1: what the spec has the user say."""
    until: int | None = None
    """The prompt that takes back what those said."""
    such: Formula | None = None
    """What the prompts said yes to; None: whatever the call carries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome(Expectation):
    """What the run's structured outcome must be."""

    status: str | None = None
    such: Formula | None = None
    schema: JsonValue = None
    when: Formula | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget(Expectation):
    """An upper bound on what a run may use."""

    turns: int | None = None
    tokens: int | None = None
    duration_ms: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane(Expectation):
    """What an MCP server's lane must keep to."""

    server: str
    """Empty: every lane."""
    call_ms: float | None = None
    share: float | None = None
    """Percent of the answers that must come within `call_ms`; None: each of them."""
    result_bytes: int | None = None
    errors: bool = False
    """Tool errors are findings."""
    tools: JsonValue = None
    """Snapshot of the catalogue."""
    capabilities: JsonValue = None
    """Snapshot of the capabilities."""
    discovered: JsonValue = None
    """The same for clients that ask with `server/discover`, where the snapshot tells them apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Holds(Expectation):
    """A condition on the run as a whole."""

    such: Formula
    when: Formula | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Each(Expectation):
    """Expectations that hold for every element of an observed collection."""

    over: Term
    name: str
    body: tuple[AnyExpectation, ...]


type AnyExpectation = Calls | Order | Precedence | Arguments | Confirmation | Outcome | Budget | Lane | Holds | Each


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """All expectations on a run."""

    expectations: tuple[AnyExpectation, ...] = ()
    strict: bool = False
    """An expectation that was never exercised fails the run."""

    @property
    def bans(self) -> tuple[Calls, ...]:
        """What is never called, conditional bans too."""
        return tuple(each for each in self.expectations if isinstance(each, Calls) and each.kind == "forbidden")

    @property
    def approvals(self) -> tuple[Confirmation, ...]:
        """What is not called without a confirmation."""
        return tuple(each for each in self.expectations if isinstance(each, Confirmation))
