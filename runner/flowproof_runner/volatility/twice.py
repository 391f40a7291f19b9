"""`record --twice`: replay a fresh recording at once, and find the pins without which it is not the same again.

Where the model asked for several tools at once, it is replayed once more with the calls turned round: which of them
ends first is chance, and need not have shown in two runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import yaml

from flowproof_addons.dialects.base import Registry
from flowproof_addons.matching.divergence import Divergence
from flowproof_addons.trace import file
from flowproof_runner.doctor.varied import Variation, of_two_runs, variation
from flowproof_runner.flow import cassette, tally, verdicts
from flowproof_runner.flow.flows import Flows
from flowproof_runner.program import writing
from flowproof_runner.result import FlowResult
from flowproof_runner.spec.file import LoadedSpec, load, text_of
from flowproof_runner.spec.pins import PinEntry
from flowproof_runner.volatility.edit import with_pins

_ROUNDS = 20
"""An agent is stopped at its first divergence, so that what varies later shows only once that is pinned."""


@dataclass(frozen=True, slots=True)
class Second:
    """What running again showed."""

    spec: Path
    variations: tuple[Variation, ...]
    result: FlowResult
    """The last replay in the recorded order, with all the pins found."""
    parallel: bool = False
    """Some reply held several calls, so that there was another order to try."""
    order: tuple[Variation, ...] = ()
    """What another order of parallel calls changes, and no pin allows."""

    @property
    def pins(self) -> tuple[tuple[str, ...], ...]:
        """The pins to put into the spec, the lines of each."""
        return tuple(one.pin for one in self.variations if one.pin)

    @property
    def steady(self) -> bool:
        """True when the recording replays as the spec stands.

        An order that no pin allows is told and not held against it: an agent that runs its tools one after the other
        never takes it.
        """
        return self.result.verdict == "pass" and not self.variations


def again(spec: LoadedSpec, flows: Flows, folder: Callable[[], Path]) -> Second:
    """Replay the fresh cassette, pinning in memory what differs, until it holds or nothing more can be pinned."""
    found, result = _pinned_until_it_holds(spec, flows, folder, ())
    parallel = result.verdict == "pass" and _parallel(cassette.path_of(spec.path), flows.around.registry)
    if not parallel:
        return Second(spec.path, found, result)
    turned = replace(flows, around=replace(flows.around, reorder=True))
    found, last = _pinned_until_it_holds(spec, turned, folder, found)
    fixed = tuple(one for one in found if one.pin)
    order = tuple(one for one in found if not one.pin)
    if not order and any(each.id == verdicts.DIVERGENCE for each in last.findings):
        order = _variations(flows, last)
    return Second(spec.path, fixed, result, parallel, order)


def write(second: Second) -> None:
    """Put the pins into the spec and tell the cassette of it: it was recorded with this spec, but for them.

    Raises EditError if the spec cannot take them, WriteError if it cannot be written.
    """
    text = with_pins(text_of(second.spec), second.pins)
    writing.write(second.spec, text)
    path = cassette.path_of(second.spec)
    file.save(path, replace(file.load(path), spec=load(second.spec).digest))


def _pinned_until_it_holds(
    spec: LoadedSpec, flows: Flows, folder: Callable[[], Path], found: tuple[Variation, ...]
) -> tuple[tuple[Variation, ...], FlowResult]:
    """All that differs, and the last replay."""
    known = list(found)
    result = flows.run(_pinned(spec, known), "replay", folder())
    for _ in range(_ROUNDS):
        new = [one for one in _variations(flows, result) if one.pin not in [each.pin for each in known]]
        known += new
        if not any(one.pin for one in new):
            break
        result = flows.run(_pinned(spec, known), "replay", folder())
    return tuple(known), result


def _parallel(path: Path, registry: Registry) -> bool:
    """True when some recorded reply asks for several tools at once."""
    replies = (tally.read(exchange, registry) for exchange in file.load(path).exchanges)
    return any(len(reply.calls) > 1 for reply in replies if reply is not None)


def _variations(flows: Flows, result: FlowResult) -> tuple[Variation, ...]:
    """The first difference that the pins so far do not allow, as the divergence report has it."""
    if result.trace is None or result.verdict == "pass":
        return ()
    replayed = file.load(flows.around.start / result.trace)
    reports = (exchange.divergence for exchange in replayed.exchanges if isinstance(exchange.divergence, dict))
    return tuple(_variation(Divergence.from_json(report)) for report in islice(reports, 1))


def _variation(report: Divergence) -> Variation:
    if not report.differences:
        return Variation(report.request, report.why, "", "", turn=report.turn)
    first = variation(report.differences[0], report.turn)
    return replace(first, pin=of_two_runs(report.pin[1:]) or first.pin)


def _pinned(spec: LoadedSpec, found: Sequence[Variation]) -> LoadedSpec:
    lines = [line for one in found for line in one.pin]
    entries = tuple(PinEntry.model_validate(each) for each in yaml.safe_load("\n".join(lines)) or ())
    return replace(spec, spec=spec.spec.model_copy(update={"pins": (*spec.spec.pins, *entries)}))
