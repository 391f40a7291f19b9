"""Mutants through the checks: killed, survived, or no fault at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from flowproof_runner.evidence.model import Evidence
from flowproof_runner.expectations.contract.evaluate import evaluate
from flowproof_runner.expectations.contract.model import AnyExpectation, Calls, Contract, Outcome
from flowproof_runner.expectations.contract.view import View
from flowproof_runner.expectations.contract.walk import reads_outcome
from flowproof_runner.findings import Finding
from flowproof_runner.mutate.equivalence import Fingerprint, equivalent
from flowproof_runner.mutate.mutant import Mutant
from flowproof_runner.mutate.operators import Material, mutants
from flowproof_runner.mutate.story import Story
from flowproof_runner.mutate.suggest import Advisor

type Checks = Callable[[Evidence], tuple[Finding, ...]]

_READ_VERBS = frozenset(
    "get list read fetch search find query lookup show describe view check count select peek inspect".split()
)


@dataclass(frozen=True, slots=True)
class Survivor:
    """A fault nobody noticed."""

    mutant: Mutant
    would_kill: str
    """A line for `expect:` that accepts the run and would have rejected this; empty where there is none."""


@dataclass(frozen=True, slots=True)
class Score:
    """What a set of checks caught."""

    killed: tuple[Mutant, ...]
    survivors: tuple[Survivor, ...]
    equivalents: tuple[tuple[Mutant, str], ...]
    """No fault, with the reason."""
    overblocked: tuple[Mutant, ...]
    """No fault, and rejected all the same: false alarms."""
    by_finding: Mapping[str, int]
    """How many mutants each finding killed first."""

    @property
    def scorable(self) -> int:
        """Mutants that are faults."""
        return len(self.killed) + len(self.survivors)

    @property
    def percent(self) -> float:
        """Share of the faults that were caught; 0 if there are none."""
        return 100 * len(self.killed) / self.scorable if self.scorable else 0.0


@dataclass(frozen=True, slots=True)
class Study:
    """The three numbers that mean something only together."""

    baseline: tuple[Finding, ...]
    """Findings on the run as it was: there must be none."""
    score: Score
    control: Score
    """The same mutants with the checks stripped to next to nothing."""
    without_outcome: Score | None
    """The same without any structured outcome, and without the checks that read one."""
    reads: frozenset[str]


@dataclass(frozen=True, slots=True)
class Subject:
    """The checks under study, and what the control and the study without an outcome leave of them."""

    checks: Checks
    control: Checks
    silent: Checks

    @staticmethod
    def of(contract: Contract, baseline: Evidence, more: Checks = lambda run: ()) -> Subject:
        """A contract's checks. `more`: checks of another kind that stand beside it, the steps of a spec."""
        bare, quiet = stripped(contract, baseline), without_outcome(contract)
        return Subject(
            lambda run: (*evaluate(contract, run), *more(run)),
            lambda run: evaluate(bare, run),
            lambda run: (*evaluate(quiet, run), *more(run)),
        )


def study(subject: Subject, evidence: Evidence, reads: Iterable[str] = ()) -> Study:
    """Mutate a run and judge every mutant. `reads`: tools that change nothing, besides the obvious."""
    known = frozenset(reads) | reading(evidence)
    corpus = Corpus.of(evidence, known)
    story = Story.of(evidence)
    reported = story.outcome is not None and story.outcome.output is not None
    return Study(
        subject.checks(evidence),
        corpus.score(subject.checks),
        corpus.score(subject.control, advise=False),
        Corpus.of(story.unreported(), known).score(subject.silent) if reported else None,
        known,
    )


@dataclass(frozen=True, slots=True)
class Corpus:
    """The mutants of one run, those that are no fault told apart."""

    material: Material
    faults: tuple[Mutant, ...]
    equivalents: tuple[tuple[Mutant, str], ...]

    @staticmethod
    def of(evidence: Evidence, reads: frozenset[str]) -> Corpus:
        """Make every mutant of a run."""
        material = Material.of(Story.of(evidence), reads)
        baseline = Fingerprint.of(evidence, reads)
        every = [(m, equivalent(baseline, Fingerprint.of(m.evidence, reads))) for m in mutants(material)]
        same = tuple((mutant, reason) for mutant, reason in every if reason is not None)
        return Corpus(material, tuple(mutant for mutant, reason in every if reason is None), same)

    def score(self, checks: Checks, *, advise: bool = True) -> Score:
        """Judge every mutant. `advise`: say what would have killed the survivors."""
        advisor = Advisor(self.material)
        killed: list[Mutant] = []
        survivors: list[Survivor] = []
        by_finding: Counter[str] = Counter()
        for mutant in self.faults:
            findings = checks(mutant.evidence)
            if findings:
                killed.append(mutant)
                by_finding[findings[0].id] += 1
            else:
                survivors.append(Survivor(mutant, advisor.suggestion(mutant) if advise else ""))
        overblocked = tuple(mutant for mutant, _ in self.equivalents if checks(mutant.evidence))
        return Score(tuple(killed), tuple(survivors), self.equivalents, overblocked, dict(by_finding.most_common()))


def stripped(contract: Contract, baseline: Evidence) -> Contract:
    """The negative control: two tools that must be called (the contract's own, else the run's first) and the status."""
    required: Sequence[AnyExpectation] = [
        e for e in contract.expectations if isinstance(e, Calls) and e.kind == "required" and e.when is None
    ]
    if len(required) < 2:
        tools = dict.fromkeys(call.tool for call in View(baseline).calls)
        required = [Calls(tools=(tool,), at_least=1, kind="required") for tool in tools]
    status = [
        Outcome(id=e.id, status=e.status)
        for e in contract.expectations
        if isinstance(e, Outcome) and e.status is not None and e.when is None
    ]
    return Contract(expectations=(*required[:2], *status[:1]))


def without_outcome(contract: Contract) -> Contract:
    """The contract for an agent that reports nothing structured."""
    kept: list[AnyExpectation] = []
    for expectation in contract.expectations:
        if not reads_outcome(expectation):
            kept.append(expectation)
        elif isinstance(expectation, Outcome) and expectation.status is not None and expectation.when is None:
            kept.append(replace(expectation, such=None, schema=None))
    return replace(contract, expectations=tuple(kept))


def reading(evidence: Evidence) -> frozenset[str]:
    """Tools whose name says that they only read: their first or last word is a reading verb."""
    return frozenset(call.tool for call in View(evidence).calls if _reads(call.tool))


def _reads(tool: str) -> bool:
    words = "".join(c if c.isalnum() else " " for c in tool).split()
    last = tool.replace("/", ".").split(".")[-1]
    verbs = {*(w.lower() for w in words[-1:]), *(w.lower() for w in last.replace("-", "_").split("_")[:1])}
    return bool(verbs & _READ_VERBS)
