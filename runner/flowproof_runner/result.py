"""What a run came to, in the form every report renders and `--json` prints."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.findings import Candidate, Exit, Finding, Nearest, Severity, Verdict, exit_code

SCHEMA: Literal[1] = 1
"""Raised when a field changes its meaning or goes; new fields leave it as it is."""


class Part(BaseModel):
    """Base of everything here: immutable, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class FindingResult(Part):
    """One thing wrong; see `findings.Finding`."""

    id: str
    message: str
    severity: Severity = "error"
    kind: Literal["check", "problem"] = "check"
    where: str = ""
    detail: str = ""
    path: str = ""
    expected: JsonValue = None
    actual: JsonValue = None
    candidates: tuple[Candidate, ...] = ()
    """The first of the values that would have done, with the evidence they were seen in."""
    nearest: Nearest | None = None
    """What came closest to being accepted, and what stood in its way."""
    caused_by: str | None = None
    cause: str = ""
    """Equal for findings of different flows that have one cause, where that can be told."""
    seq: int | None = None
    user_turn: int | None = None
    """In a conversation: the user turn it is about, from 1."""


class StepResult(Part):
    """One step of the spec and whether it held."""

    number: int
    """Position among all steps, from 1."""
    text: str
    ok: bool
    where: str = ""
    note: str = ""
    """What happened, where that helps."""
    user_turn: int | None = None
    """In a conversation: the user turn it judges, from 1; null: all of the run."""


class Expected(Part):
    """One expectation of `expect:`, whether it held, and how often this run put it to the test."""

    id: str
    """Its place: `calls[2]`."""
    text: str
    """In the canonical form of `check --explain`."""
    times: int
    """0: nothing in this run could have broken it."""
    ok: bool
    where: str = ""


class PinUse(Part):
    """A span that was allowed to differ, and how often it did."""

    name: str
    count: int
    why: str = ""
    source: str = ""
    """Who allows it: empty is the spec, else `client claude-code` or `flowproof`."""


class FaultUse(Part):
    """A failure that the spec put in the agent's way, and how often it happened."""

    name: str
    """`turn 2: answer 429`."""
    count: int
    times: int = 1
    """How often it was to happen."""
    where: str = ""
    remarks: tuple[str, ...] = ()
    """What became of it, where that can vary: `the agent gave up after 2.1 s`."""


class Difference(Part):
    """Something that was not the same when a recording was replayed at once."""

    where: str
    """`turn 2: messages[0].content`."""
    kind: str
    """`two UUIDs`, `another order`, ..."""
    first: str
    second: str


type ParallelOrder = Literal["no parallel calls", "the same", "matters", "not tried"]


class Again(Part):
    """What `record --twice` showed of one flow."""

    steady: bool
    """The recording replays as the spec stands."""
    order: ParallelOrder = "not tried"
    """What another order of parallel tools changes."""
    differences: tuple[Difference, ...] = ()
    pins: tuple[str, ...] = ()
    """Lines for the spec, `pins:` first; empty when none would help."""
    written: bool = False
    """They are in the spec now."""
    left: tuple[str, ...] = ()
    """What is still wrong with them."""


class AgentEnd(Part):
    """How the agent ended."""

    ending: str
    """`exited`, `timed out`, `stopped after divergence`, `interrupted`."""
    duration_s: float
    exit_code: int | None = None
    signal: int | None = None
    stdout: str | None = None
    """Path of what it printed."""
    stderr: str | None = None
    tail: tuple[str, ...] = ()
    """Its last lines, where they help: only when the flow did not pass."""
    tail_of: Literal["stdout", "stderr"] | None = None


class Counts(Part):
    """What crossed the boundary."""

    turns: int = 0
    recorded_turns: int | None = None
    """At replay: the turns in the cassette."""
    side_calls: int = 0
    tool_calls: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None


class UserTurn(Part):
    """One user turn of a conversation."""

    number: int
    """From 1."""
    text: str
    """As the spec has it."""
    turns: int = 0
    """Model turns that came of it."""


class FlowResult(Part):
    """One flow, recorded or replayed."""

    name: str
    spec: str
    """Path, as shown to people."""
    phase: Literal["record", "replay"]
    verdict: Verdict
    exit_code: int
    reason: str = ""
    """Why it was skipped."""
    prompt: str = ""
    """What the agent was told, as the spec has it."""
    conversation: tuple[UserTurn, ...] = ()
    """What the user said, turn by turn, and what came of it."""
    findings: tuple[FindingResult, ...] = ()
    notes: tuple[str, ...] = ()
    steps: tuple[StepResult, ...] = ()
    expectations: tuple[Expected, ...] = ()
    counts: Counts = Counts()
    pins: tuple[PinUse, ...] = ()
    faults: tuple[FaultUse, ...] = ()
    again: Again | None = None
    """With `record --twice`: what replaying it at once showed."""
    agent: AgentEnd | None = None
    containment: str = "not contained"
    """The tier that was in force."""
    egress: dict[str, JsonValue] | None = None
    """What containment was asked and saw (`containment.evidence`); None where no agent was run."""
    control: dict[str, JsonValue] | None = None
    """The control this flow is evidence for."""
    cassette: str | None = None
    folder: str | None = None
    """The flow's run folder."""
    trace: str | None = None
    duration_s: float = 0.0


class SharedCause(Part):
    """One cause that made several flows fail: the same drift, the same problem."""

    id: str
    """Of its findings."""
    message: str
    """As the first of the flows has it."""
    detail: str = ""
    specs: tuple[str, ...]
    """The flows, in order."""


class RunResult(Part):
    """One invocation."""

    schema_version: Literal[1] = Field(default=SCHEMA, alias="schema")
    flowproof: str
    """Version."""
    command: Literal["run", "record"]
    id: str
    folder: str
    started_at: str
    """RFC 3339, UTC."""
    duration_s: float
    verdict: Verdict
    exit_code: int
    flows: tuple[FlowResult, ...] = ()
    causes: tuple[SharedCause, ...] = ()
    """What more than one flow failed for; each flow has its findings all the same."""
    notes: tuple[str, ...] = ()

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, serialize_by_alias=True)

    def count(self, verdict: Verdict) -> int:
        """How many flows have this verdict."""
        return sum(flow.verdict == verdict for flow in self.flows)


def finding(found: Finding) -> FindingResult:
    """A finding as a result."""
    return FindingResult(
        id=found.id,
        message=found.message,
        severity=found.severity,
        kind=found.kind,
        where=found.where,
        detail=found.detail,
        path=found.path,
        expected=found.expected,
        actual=found.actual,
        candidates=found.candidates,
        nearest=found.nearest,
        caused_by=found.caused_by,
        cause=found.cause,
        seq=found.seq,
        user_turn=found.user_turn,
    )


def verdict(findings: Iterable[Finding]) -> tuple[Verdict, Exit]:
    """The verdict and exit code of one flow's findings: without any it passed."""
    code = exit_code(tuple(findings))
    names: dict[Exit, Verdict] = {Exit.PASS: "pass", Exit.UNUSABLE: "error"}
    return names.get(code, "fail"), code


def overall(flows: Iterable[FlowResult]) -> tuple[Verdict, int]:
    """The verdict and exit code of several flows: the worst; all skipped is a skip, with exit code 0."""
    results = tuple(flows)
    worst = max((flow.exit_code for flow in results), default=int(Exit.UNUSABLE))
    if worst == Exit.PASS:
        return ("skip" if all(flow.verdict == "skip" for flow in results) else "pass"), worst
    return ("error" if worst == Exit.UNUSABLE else "fail"), worst
