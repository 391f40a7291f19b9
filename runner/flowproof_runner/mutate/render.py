"""A study for people and for machines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.mutate.score import Score, Study
from flowproof_runner.mutate.worlds import Visit


def table(study: Study, visits: Sequence[Visit] | None, *, verbose: bool = False) -> Iterator[str]:
    """The numbers that belong together, the survivors, the false alarms."""
    yield "                            caught   faults     score   no fault   false alarms"
    yield _row("these checks", study.score)
    if study.without_outcome is not None:
        yield _row("without the outcome", study.without_outcome)
    yield _row("checks stripped (control)", study.control)
    yield f"changes nothing: {', '.join(sorted(study.reads)) or '(no tool known)'}"
    for operator, (caught, faults) in sorted(by_operator(study.score).items()):
        yield f"  {operator:<20} {caught:>3} of {faults}"
    for survivor in study.score.survivors:
        yield f"survived  {survivor.mutant.id}: {survivor.mutant.text}"
        said = survivor.would_kill or "no single line tells it from the run"
        yield f"          would be caught by  {said}"
    for mutant in study.score.overblocked:
        yield f"false alarm  {mutant.id}: {mutant.text}"
    if verbose:
        for mutant, reason in study.score.equivalents:
            yield f"no fault  {mutant.id}: {mutant.text} ({reason})"
    if visits is not None:
        yield from _worlds(visits)


def data(study: Study, visits: Sequence[Visit] | None) -> dict[str, JsonValue]:
    """The same as JSON."""
    whole: dict[str, JsonValue] = {
        "baseline": list[JsonValue](finding.id for finding in study.baseline),
        "score": _score(study.score),
        "control": _score(study.control),
        "withoutOutcome": None if study.without_outcome is None else _score(study.without_outcome),
        "reads": list[JsonValue](sorted(study.reads)),
    }
    if visits is not None:
        whole["worlds"] = [
            {
                "name": visit.name,
                "about": visit.about,
                "verdict": visit.verdict,
                "why": visit.why,
                "findings": list[JsonValue](finding.id for finding in visit.findings),
            }
            for visit in visits
        ]
    return whole


def by_operator(score: Score) -> dict[str, tuple[int, int]]:
    """Operator -> (caught, faults)."""
    caught = Counter(mutant.operator for mutant in score.killed)
    survived = Counter(survivor.mutant.operator for survivor in score.survivors)
    return {name: (caught[name], caught[name] + survived[name]) for name in caught | survived}


def _row(name: str, score: Score) -> str:
    return (
        f"{name:<26}{len(score.killed):>8}{score.scorable:>9}{score.percent:>9.1f}%"
        f"{len(score.equivalents):>11}{len(score.overblocked):>15}"
    )


def _worlds(visits: Sequence[Visit]) -> Iterator[str]:
    accepted = sum(visit.verdict == "accepted" for visit in visits)
    yield f"worlds: {accepted} of {len(visits)} accepted"
    for visit in visits:
        if visit.verdict != "accepted":
            found = ", ".join(dict.fromkeys(finding.id for finding in visit.findings))
            yield f"  {visit.verdict}  {visit.name}: {visit.why or found}"


def _score(score: Score) -> JsonValue:
    operators: dict[str, JsonValue] = {
        name: {"caught": caught, "faults": faults} for name, (caught, faults) in by_operator(score).items()
    }
    return {
        "caught": len(score.killed),
        "faults": score.scorable,
        "percent": round(score.percent, 2),
        "operators": operators,
        "killedBy": dict(score.by_finding),
        "survivors": [
            {"id": each.mutant.id, "text": each.mutant.text, "wouldKill": each.would_kill} for each in score.survivors
        ],
        "noFault": [{"id": mutant.id, "text": mutant.text, "reason": reason} for mutant, reason in score.equivalents],
        "falseAlarms": [mutant.id for mutant in score.overblocked],
    }
