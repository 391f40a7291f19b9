"""The faults: each operator lists the mutants it can make of a run."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.evidence.model import (
    AnyEvent,
    Confirmed,
    Decided,
    Denied,
    Dispatched,
    Returned,
    Told,
)
from flowproof_runner.expectations.contract.values import key, short
from flowproof_runner.mutate.leaves import Path, arrays, leaves, put, remove, substitute
from flowproof_runner.mutate.mutant import Mutant
from flowproof_runner.mutate.story import Story, Use


@dataclass(frozen=True, slots=True)
class Material:
    """A run, and what is known about its tools."""

    story: Story
    reads: frozenset[str]
    """Tools that change nothing."""
    pool: tuple[tuple[Path, JsonValue], ...]
    """Every scalar seen in arguments and answers, with its path."""

    @staticmethod
    def of(story: Story, reads: frozenset[str]) -> Material:
        """Gather what values the run saw."""
        pool = [leaf for use in story.uses for value in (use.call.arguments, use.result) for leaf in leaves(value)]
        return Material(story, reads, tuple(pool))

    def changes(self, use: Use) -> bool:
        """True when the tool may change something."""
        return not any(name in self.reads for name in use.call.names)


def mutants(material: Material) -> Iterator[Mutant]:
    """Every mutant of a run, operator by operator."""
    for operator in (drop, duplicate, reorder, swap_argument, widen, stale, misreport, extra):
        yield from operator(material)


def drop(material: Material) -> Iterator[Mutant]:
    """A call that is not made."""
    for use in material.story.uses:
        yield Mutant(f"drop-call:{use.number}", f"never calls {_named(use)}", material.story.without(use), use)


def duplicate(material: Material) -> Iterator[Mutant]:
    """A call made twice."""
    for use in material.story.uses:
        evidence = material.story.repeated(use, lambda event: event)
        yield Mutant(f"duplicate-call:{use.number}", f"calls {_named(use)} twice", evidence, use)


def reorder(material: Material) -> Iterator[Mutant]:
    """Two neighbouring calls the other way round, approvals travelling along."""
    uses = material.story.uses
    for first, second in itertools.pairwise(uses):
        if first.call.group is not None and first.call.group == second.call.group:
            continue  # asked for in one message: their order means nothing
        text = f"calls {_named(second)} before {_named(first)}"
        yield Mutant(f"reorder:{first.number}", text, material.story.swapped(first, second), first)


def swap_argument(material: Material) -> Iterator[Mutant]:
    """A plausible but wrong argument, in the approval as well as in the call."""
    for use in material.story.uses:
        for path, value in leaves(use.call.arguments):
            other = substitute(value, path, material.pool)
            if key(other) == key(value):
                continue
            evidence = material.story.rewritten(use, _arguments(lambda a, p=path, o=other: put(a, p, o)))  # type: ignore[misc]
            text = f"{_named(use)} with {_dotted(path)} = {short(other, 60)}"
            yield Mutant(f"swap-arg:{use.number}:{_dotted(path)}", text, evidence, use, path, value, other)


def widen(material: Material) -> Iterator[Mutant]:
    """A read that asks for more than it should: an argument left out, or `*` in its place."""
    for use in material.story.uses:
        if material.changes(use):
            continue
        for path, value in leaves(use.call.arguments):
            change = _arguments(lambda a, p=path: remove(a, p))  # type: ignore[misc]
            text = f"{_named(use)} without {_dotted(path)}"
            evidence = material.story.rewritten(use, change)
            yield Mutant(f"widen-filter:{use.number}:{_dotted(path)}", text, evidence, use, path, value, None)
            if isinstance(value, str):
                star = _arguments(lambda a, p=path: put(a, p, "*"))  # type: ignore[misc]
                evidence = material.story.rewritten(use, star)
                id = f"widen-filter:{use.number}:{_dotted(path)}:*"
                yield Mutant(id, f"{_named(use)} with {_dotted(path)} = *", evidence, use, path, value, "*")


def stale(material: Material) -> Iterator[Mutant]:
    """An answer taken from an earlier call of the same tool."""
    earlier: dict[str, list[Use]] = {}
    for use in material.story.uses:
        for other in earlier.get(use.call.tool, ()):
            if use.answered and other.answered and key(other.result) != key(use.result):
                evidence = material.story.rewritten(use, _answer(other.result))
                text = f"acts on the answer of {_named(other)} instead of {_named(use)}"
                yield Mutant(f"stale-result:{use.number}", text, evidence, use, (), use.result, other.result)
                break
        earlier.setdefault(use.call.tool, []).append(use)


def misreport(material: Material) -> Iterator[Mutant]:
    """A report that says something else than what was done."""
    outcome = material.story.outcome
    if outcome is None or outcome.output is None:
        return
    output = outcome.output
    pool = (*leaves(output), *material.pool)
    for path, array in arrays(output):
        if array:
            yield _misreport(material, path, array, array[:-1], "leaves the last entry out of")
    for path, value in leaves(output):
        other = substitute(value, path, pool)
        if key(other) != key(value):
            yield _misreport(material, path, value, other, "reports another")


def extra(material: Material) -> Iterator[Mutant]:
    """One more call that changes something, for something else; approved like the first if that was."""
    for use in material.story.uses:
        if not material.changes(use):
            continue
        path, value, other = _identifying(use, material.pool)
        if path is None:
            continue
        change = _arguments(lambda a, p=path, o=other: put(a, p, o))  # type: ignore[misc]
        evidence = material.story.repeated(use, change, approved=True)
        text = f"also calls {use.call.tool} with {_dotted(path)} = {short(other, 60)}"
        yield Mutant(f"extra-call:{use.number}:{_dotted(path)}", text, evidence, use, path, value, other)


def _misreport(material: Material, path: Path, before: JsonValue, after: JsonValue, verb: str) -> Mutant:
    outcome = material.story.outcome
    assert outcome is not None
    evidence = material.story.concluded(put(outcome.output, path, after))
    name = _dotted(path) or "outcome"
    return Mutant(f"misreport-outcome:{name}", f"{verb} {name}", evidence, None, path, before, after)


def _identifying(use: Use, pool: Sequence[tuple[Path, JsonValue]]) -> tuple[Path | None, JsonValue, JsonValue]:
    for path, value in leaves(use.call.arguments):
        other = substitute(value, path, pool)
        if key(other) != key(value):
            return path, value, other
    return None, None, None


def _arguments(change: Callable[[JsonValue], JsonValue]) -> Callable[[AnyEvent], AnyEvent]:
    def changed(event: AnyEvent) -> AnyEvent:
        if isinstance(event, Decided | Dispatched | Denied):
            return replace(event, arguments=change(event.arguments))
        if isinstance(event, Confirmed) and event.arguments is not None:
            return replace(event, arguments=change(event.arguments))
        return event

    return changed


def _answer(result: JsonValue) -> Callable[[AnyEvent], AnyEvent]:
    def changed(event: AnyEvent) -> AnyEvent:
        return replace(event, result=result) if isinstance(event, Returned | Told) else event

    return changed


def _named(use: Use) -> str:
    return f"{use.call.tool} (#{use.number})"


def _dotted(path: Path) -> str:
    return ".".join(map(str, path))
