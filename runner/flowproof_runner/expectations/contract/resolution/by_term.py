"""Something remembered of each term of a contract."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from flowproof_runner.expectations.contract.terms import Term


@dataclass(slots=True)
class ByTerm[T]:
    """Remembers one thing about each term, by identity, for terms hold JSON and have no hash."""

    _kept: dict[int, tuple[Term, T]] = field(default_factory=dict)

    def of(self, term: Term, make: Callable[[], T]) -> T:
        """What is known of the term, made when it is first asked for.

        The term is kept with it: the id of one that is gone would soon be another's.
        """
        found = self._kept.get(id(term))
        if found is None:
            found = self._kept[id(term)] = (term, make())
        return found[1]
