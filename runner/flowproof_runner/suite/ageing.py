"""How old a recording may be: a model that was asked long ago says little about the one that will answer today."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

from pydantic import Field

from flowproof_addons.trace.model import Trace
from flowproof_runner.findings import Finding
from flowproof_runner.reading.fields import Days, Part

TOO_OLD = "cassette.age"


class MaxAge(Part):
    """`max_age` of a suite: `90d`, or a warning before that."""

    warn: Days | None = Field(default=None, description="An older cassette is noted.")
    fail: Days | None = Field(default=None, description="A flow with an older cassette fails.")


def of_node(node: object) -> object:
    """`90d` alone is where a flow fails."""
    return node if isinstance(node, dict) else {"fail": node}


def days(trace: Trace, now: dt.datetime) -> int:
    """Whole days since a cassette was recorded; 0 where it does not say when."""
    try:
        recorded = dt.datetime.fromisoformat(trace.recorded_at)
    except ValueError:
        return 0
    since = now - (recorded if recorded.tzinfo else recorded.replace(tzinfo=dt.UTC))
    return max(0, since.days)


def failing(limit: MaxAge | None, trace: Trace, now: dt.datetime, spec: str, where: str) -> Iterator[Finding]:
    """The finding for a cassette that is older than its suite lets it be."""
    old = days(trace, now)
    if limit is not None and limit.fail is not None and old > limit.fail:
        yield Finding(
            id=TOO_OLD,
            message=f"the cassette is {old} days old; max_age of the suite is {limit.fail}",
            detail=f"record it again: flowproof record {spec}",
            where=where,
            expected=limit.fail,
            actual=old,
        )


def noted(limit: MaxAge | None, trace: Trace, now: dt.datetime) -> Iterator[str]:
    """The note on a cassette that will soon be too old."""
    old = days(trace, now)
    if limit is not None and limit.warn is not None and old > limit.warn and not (limit.fail and old > limit.fail):
        left = f" and may be {limit.fail}" if limit.fail else ""
        yield f"the cassette is {old} days old{left}: record it again before long"
