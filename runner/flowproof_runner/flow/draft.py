"""A flow's result while the flow is still running."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from flowproof_addons import FlowproofError
from flowproof_addons.trace.model import Phase
from flowproof_runner.containment.evidence import as_json
from flowproof_runner.containment.report import ContainmentReport
from flowproof_runner.controls import controls
from flowproof_runner.drivers.base import DriverResult
from flowproof_runner.drivers.dialogue import Dialogue
from flowproof_runner.drivers.tail import tail
from flowproof_runner.expectations.contract.model import Contract
from flowproof_runner.findings import Finding
from flowproof_runner.flow import verdicts
from flowproof_runner.habitat.habitat import Habitat
from flowproof_runner.result import (
    AgentEnd,
    Counts,
    Expected,
    FaultUse,
    FlowResult,
    PinUse,
    StepResult,
    UserTurn,
    finding,
    verdict,
)
from flowproof_runner.secrecy.scrub import Scrubber
from flowproof_runner.spec.file import LoadedSpec


@dataclass(slots=True)
class Draft:
    """What is known so far."""

    spec: LoadedSpec
    phase: Phase
    folder: Path
    directory: Path
    """Where the agent runs."""
    start: Path
    """Paths below it are shown relative to it."""
    scrubber: Scrubber
    contract: Contract = field(default_factory=Contract)
    """What `expect:` and the servers' limits demand."""
    habitat: Habitat = field(init=False)
    """What surrounds the agent; nothing of ours until it is made."""
    resolved: LoadedSpec = field(init=False)
    """The spec with its variables' values; as written until they are known."""
    began: float = field(default_factory=time.monotonic)
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    steps: Sequence[StepResult] = ()
    expectations: Sequence[Expected] = ()
    counts: Counts = field(default_factory=Counts)
    pins: Sequence[PinUse] = ()
    faults: tuple[FaultUse, ...] = ()
    dialogue: Dialogue | None = None
    """Of a conversation, once it has begun."""
    conversation: Sequence[UserTurn] = ()
    agent: DriverResult | None = None
    contained: ContainmentReport | None = None
    cassette: Path | None = None
    trace: Path | None = None

    def __post_init__(self) -> None:
        self.resolved = self.spec
        self.habitat = Habitat(self.directory)

    @property
    def failed(self) -> bool:
        """True once anything is wrong."""
        return bool(self.findings)

    def settle(self, habitat: Habitat) -> None:
        """The agent lives here."""
        self.habitat, self.directory = habitat, habitat.directory

    @property
    def cause(self) -> str | None:
        """Id of the finding after which the run was no longer whole, so that what is missing follows from it."""
        return next((found.id for found in self.findings if found.id in verdicts.CUT_SHORT), None)

    def add(self, findings: Iterable[Finding]) -> None:
        """Note what is wrong."""
        self.findings.extend(findings)

    def problem(self, error: FlowproofError, where: str) -> None:
        """Note that the flow could not be tried, and why."""
        self.add([Finding(id="flow.error", kind="problem", message=str(error), where=where)])

    def result(self) -> FlowResult:
        """The result, without any secret."""
        name, code = verdict(self.findings)
        control = controls.row(self.spec, self.findings, self.contained, self.scrubber.secrets)
        return FlowResult(
            name=self.spec.spec.name,
            spec=str(self.spec.path),
            phase=self.phase,
            verdict=name,
            exit_code=code,
            prompt="\n".join(turn.text for turn in self.conversation) or self.spec.task,
            conversation=tuple(self.conversation),
            findings=tuple(finding(self._clean(found)) for found in self.findings),
            notes=tuple(self.scrubber.text(note) for note in dict.fromkeys(self.notes)),
            steps=tuple(self.steps),
            expectations=tuple(self.expectations),
            counts=self.counts,
            pins=tuple(self.pins),
            faults=self.faults,
            agent=self._end(),
            containment=self.contained.tier if self.contained else "not contained (the agent was not run)",
            egress=as_json(self.contained, self.spec.spec.agent.allow_egress) if self.contained else None,
            control=control.model_dump(mode="json") if control else None,
            cassette=self._shown(self.cassette),
            folder=self._shown(self.folder),
            trace=self._shown(self.trace),
            duration_s=round(time.monotonic() - self.began, 3),
        )

    def _clean(self, found: Finding) -> Finding:
        text, value, near = self.scrubber.text, self.scrubber.value, found.nearest
        if near is not None:
            near = replace(near, value=value(near.value), fails=tuple(map(text, near.fails)))
        return replace(
            found,
            message=text(found.message),
            detail=text(found.detail),
            expected=value(found.expected),
            actual=value(found.actual),
            candidates=tuple(replace(each, value=value(each.value)) for each in found.candidates),
            nearest=near,
        )

    def _end(self) -> AgentEnd | None:
        if self.agent is None:
            return None
        lines = {name: tail(path) for name, path in self._outputs() if self.failed}
        of = next((name for name in ("stderr", "stdout") if lines.get(name)), None)
        return AgentEnd(
            ending=self.agent.ending,
            duration_s=round(self.agent.duration_s, 3),
            exit_code=self.agent.exit_code,
            signal=self.agent.signal,
            stdout=self._shown(self.agent.stdout),
            stderr=self._shown(self.agent.stderr),
            tail=lines[of] if of else (),
            tail_of="stderr" if of == "stderr" else "stdout" if of else None,
        )

    def _outputs(self) -> Iterable[tuple[str, Path]]:
        assert self.agent is not None
        return ((n, p) for n, p in (("stdout", self.agent.stdout), ("stderr", self.agent.stderr)) if p is not None)

    def _shown(self, path: Path | None) -> str | None:
        return None if path is None else relative(path, self.start)


def relative(path: Path, start: Path) -> str:
    """A path as it is shown: relative to where flowproof was started, if it lies below."""
    return str(path.relative_to(start) if path.is_relative_to(start) else path)


def skipped(path: Path, name: str, phase: Phase, reason: str) -> FlowResult:
    """The result of a flow that was not run."""
    return FlowResult(name=name, spec=str(path), phase=phase, verdict="skip", exit_code=0, reason=reason)


def unreadable(path: Path, phase: Phase, error: FlowproofError) -> FlowResult:
    """The result of a flow whose spec is wrong: nothing was started."""
    found = Finding(id="spec.invalid", kind="problem", message=str(error))
    name, code = verdict([found])
    return FlowResult(name="", spec=str(path), phase=phase, verdict=name, exit_code=code, findings=(finding(found),))
