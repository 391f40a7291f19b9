"""Regular expressions of specs: compiled when the spec is read, and refused when they could run for ever.

Python's `re` cannot be interrupted, so what would need to be is never started.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from flowproof_runner.matchers.ambiguity import Trouble, trouble

_WHY: Mapping[Trouble, str] = {
    "exponential": "has two ways to repeat over the same text, which can take for ever; "
    "put something fixed between two rounds, or make the alternatives begin differently",
    "neighbours": "repeats the same characters side by side, which can take for ever on a long text; "
    "join the repetitions to one, or put something fixed between them",
    "too large": "has a repetition too large to be judged; make it smaller",
}


class PatternError(ValueError):
    """A regular expression cannot be used; the message says why and what to write instead."""


def compiled(pattern: str) -> re.Pattern[str]:
    """The pattern, ready for use.

    Raises PatternError if it does not compile or its searches could take time without bound.
    """
    try:
        result = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise PatternError(f"bad regular expression {pattern!r}: {error}") from error
    if result.flags & re.VERBOSE:
        raise PatternError(f"bad regular expression {pattern!r}: the flag x is not accepted; leave the blanks out")
    if found := trouble(result):
        raise PatternError(f"regular expression {pattern!r} {_WHY[found]}")
    return result
