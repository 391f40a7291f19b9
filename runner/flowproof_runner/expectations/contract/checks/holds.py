"""A condition on the run as a whole."""

from __future__ import annotations

from flowproof_runner.expectations.contract.language.explain import line
from flowproof_runner.expectations.contract.model import Holds
from flowproof_runner.expectations.contract.ruling import Place, Ruling, compared, found, unread


def judge(expectation: Holds, place: Place) -> Ruling:
    """Judged of finished runs only: what is still missing may yet come."""
    if not place.complete:
        return Ruling()
    if expectation.when is not None:
        condition = place.condition(expectation.when)
        if condition.unread:
            message = f"cannot tell whether this applies, {unread(condition.unread)}: {line(expectation)}"
            return Ruling((found(expectation, "tool.condition_unresolved", message),), 1)
        if not condition.holds:
            return Ruling()
    truth = place.truth(expectation.such)
    if truth.holds:
        return Ruling((), 1)
    if not truth.misses:
        message = f"cannot be judged, {unread(truth.gaps)}: {line(expectation)}"
        return Ruling((found(expectation, "run.unresolved", message),), 1)
    message = f"does not hold: {line(expectation)}"
    return Ruling((found(expectation, "run.condition", message, **compared(truth)),), 1)
