"""The run's structured outcome."""

from __future__ import annotations

from flowproof_runner.expectations.contract.language.explain import line
from flowproof_runner.expectations.contract.model import Outcome
from flowproof_runner.expectations.contract.ruling import Place, Ruling, compared, found, unread
from flowproof_runner.expectations.contract.schema import Schemas
from flowproof_runner.findings import Finding


def judge(expectation: Outcome, place: Place, schemas: Schemas) -> Ruling:
    """Judged of finished runs only; a missing outcome is `outcome.unavailable`, reported once elsewhere."""
    if not place.complete:
        return Ruling()
    if expectation.when is not None:
        condition = place.condition(expectation.when)
        if condition.unread:
            message = f"cannot tell whether this applies, {unread(condition.unread)}: {line(expectation)}"
            return Ruling((found(expectation, "tool.condition_unresolved", message),), 1)
        if not condition.holds:
            return Ruling()
    findings = [*_status(expectation, place), *_such(expectation, place), *_schema(expectation, place, schemas)]
    return Ruling(tuple(findings), 1)


def _status(expectation: Outcome, place: Place) -> list[Finding]:
    status = place.view.status
    if expectation.status is None or status == expectation.status:
        return []
    message = f"the run ended as {status!r}, expected {expectation.status!r}"
    outcome = place.view.outcome
    seq = outcome.seq if outcome is not None else None
    return [found(expectation, "outcome.status", message, expected=expectation.status, actual=status, seq=seq)]


def _such(expectation: Outcome, place: Place) -> list[Finding]:
    if expectation.such is None:
        return []
    truth = place.truth(expectation.such)
    if truth.holds:
        return []
    seq = place.view.outcome.seq if place.view.outcome is not None else None
    if truth.misses:
        miss = truth.misses[0]
        message = f"{miss.path or 'the outcome'} is wrong: {line(expectation)}"
        return [found(expectation, "outcome.output_subset", message, seq=seq, **compared(truth))]
    message = f"cannot be judged, {unread(truth.gaps)}: {line(expectation)}"
    return [found(expectation, "outcome.reference_unresolved", message, seq=seq)]


def _schema(expectation: Outcome, place: Place, schemas: Schemas) -> list[Finding]:
    outcome = place.view.outcome
    if expectation.schema is None or outcome is None:
        return []
    violation = schemas.violation(expectation.schema, outcome.output)
    if violation is None:
        return []
    path, words = violation
    return [found(expectation, "outcome.output_schema", f"outcome {path}: {words}", path=path, seq=outcome.seq)]
