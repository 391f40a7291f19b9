"""The words and signs that compare: `equals`, `is not`, `same set as`, `<=`."""

from __future__ import annotations

from flowproof_runner.expectations.contract.language.scanner import Scanner
from flowproof_runner.expectations.contract.terms import Operator

_WORDED: tuple[tuple[tuple[str, ...], Operator, bool], ...] = (
    (("is", "not", "empty"), "is empty", True),
    (("is", "empty"), "is empty", False),
    (("is", "absent"), "is absent", False),
    (("is", "missing"), "is absent", False),
    (("is", "not"), "equals", True),
    (("is", "one", "of"), "in", False),
    (("is",), "equals", False),
    (("equals",), "equals", False),
    (("exists",), "exists", False),
    (("contains",), "contains", False),
    (("includes",), "includes", False),
    (("matches",), "matches", False),
    (("in",), "in", False),
    (("same", "set", "as"), "same set as", False),
    (("less", "than"), "<", False),
    (("more", "than"), ">", False),
    (("at", "least"), ">=", False),
    (("at", "most"), "<=", False),
)
_SIGNED: dict[str, tuple[Operator, bool]] = {
    "=": ("equals", False),
    "==": ("equals", False),
    "!=": ("equals", True),
    "<": ("<", False),
    "<=": ("<=", False),
    ">": (">", False),
    ">=": (">=", False),
}


def operator(scan: Scanner) -> tuple[Operator, bool]:
    """The operator that comes next, and whether it is negated. Raises SyntaxProblem if none does."""
    negated = scan.take("not")
    sign = scan.sign()
    if sign in _SIGNED:
        scan.take_sign(sign)
        found, also = _SIGNED[sign]
        return found, negated != also
    for words, found, also in _WORDED:
        if scan.take(*words):
            return found, negated != also
    raise scan.problem("expected a comparison (equals, contains, matches, exists, is absent, in, <, ...)")
