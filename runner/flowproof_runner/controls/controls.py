"""The control a flow is evidence for: what was asserted, under what containment, and whether that held."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, assert_never

from pydantic import BaseModel, ConfigDict, Field

from flowproof_addons import FlowproofError
from flowproof_addons.trace.model import JsonValue
from flowproof_runner.containment import evidence
from flowproof_runner.containment.report import ContainmentReport
from flowproof_runner.expectations.ast import (
    CallAssertion,
    NoEgress,
    NoSecretLeak,
    NoSideEffect,
    Prompt,
    ReplyAssertion,
    Step,
)
from flowproof_runner.findings import Finding
from flowproof_runner.secrecy.secrets import SHORTEST
from flowproof_runner.spec.file import LoadedSpec

type ControlVerdict = Literal["pass", "fail", "capability-error"]


class DuplicateControl(FlowproofError):
    """Two flows claim to be the evidence for one control."""


class Secrets(BaseModel):
    """Which secrets the flow was checked for, by name."""

    model_config = ConfigDict(frozen=True)

    checked: tuple[str, ...] = ()
    excluded: dict[str, str] = Field(default_factory=dict)
    """Name to the reason why its value could not be looked for."""


class ControlRow(BaseModel):
    """A control in a run record. What a later flowproof adds is ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    title: str
    verdict: ControlVerdict
    lanes: tuple[str, ...]
    """What was asserted something about: `tools`, `model`, `reply`, `egress`, `fs_write`, `secrets`, `contract`."""
    containment: str
    """What was enforced."""
    evidence: dict[str, JsonValue] = Field(default_factory=dict)
    secrets: Secrets = Secrets()
    findings: tuple[str, ...] = ()
    """Ids of what was wrong."""
    spec_digest: str = ""
    """Of the spec as it was then."""


def row(
    spec: LoadedSpec,
    findings: Sequence[Finding],
    contained: ContainmentReport | None,
    secrets: Mapping[str, str],
) -> ControlRow | None:
    """The row of a flow that has run; None when it is evidence for no control. `secrets`: name to value, not kept."""
    control = spec.spec.control
    if control is None:
        return None
    lanes = tuple(dict.fromkeys(_lanes(spec)))
    asked = spec.spec.agent.allow_egress is not None or "egress" in lanes
    return ControlRow(
        id=control.id,
        title=control.title,
        verdict=verdict(findings),
        lanes=lanes,
        containment=contained.tier if contained else "not contained (the agent was not run)",
        evidence=evidence.as_json(contained, spec.spec.agent.allow_egress) if contained and asked else {},
        secrets=_secrets(spec, secrets),
        findings=tuple(dict.fromkeys(found.id for found in findings)),
        spec_digest=spec.digest,
    )


def verdict(findings: Iterable[Finding]) -> ControlVerdict:
    """`fail` as soon as a check failed; `capability-error` when there are only checks that could not be made."""
    kinds = {found.kind for found in findings}
    return "fail" if "check" in kinds else "capability-error" if kinds else "pass"


def refuse_duplicates(specs: Iterable[LoadedSpec]) -> None:
    """Raise DuplicateControl, naming every place, if two flows share a control id."""
    if lines := duplicates(specs):
        raise DuplicateControl("\n".join(lines))


def duplicates(specs: Iterable[LoadedSpec]) -> tuple[str, ...]:
    """A line for each control id that several flows share."""
    places: dict[str, list[str]] = {}
    for spec in specs:
        if spec.spec.control is not None:
            places.setdefault(spec.spec.control.id, []).append(spec.document.where(("control", "id")))
    return tuple(
        f"control {id!r} is claimed by {' and '.join(where)}: give each flow a control of its own"
        for id, where in places.items()
        if len(where) > 1
    )


def _lanes(spec: LoadedSpec) -> Iterator[str]:
    yield from (lane for each in spec.steps if (lane := _lane(each.step)))
    if spec.spec.strict:
        yield "tools"
    if spec.spec.expect:
        yield "contract"


def _lane(step: Step) -> str:
    match step:
        case CallAssertion():
            return "model" if step.kind in ("request", "no_request") else "tools"
        case ReplyAssertion():
            return "reply"
        case NoEgress():
            return "egress"
        case NoSideEffect():
            return "fs_write"
        case NoSecretLeak():
            return "secrets"
        case Prompt():
            return ""
        case _:
            assert_never(step)


def _secrets(spec: LoadedSpec, values: Mapping[str, str]) -> Secrets:
    steps = (each.step for each in spec.steps)
    names = dict.fromkeys(name for step in steps if isinstance(step, NoSecretLeak) for name in step.variables)
    reasons = {name: _reason(values.get(name, "")) for name in names}
    return Secrets(
        checked=tuple(name for name, reason in reasons.items() if not reason),
        excluded={name: reason for name, reason in reasons.items() if reason},
    )


def _reason(value: str) -> str:
    if not value:
        return "not set"
    return f"fewer than {SHORTEST} characters" if len(value) < SHORTEST else ""
