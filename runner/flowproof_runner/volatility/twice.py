"""`record --twice`: replay a fresh recording at once, and find the pins without which it is not the same again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import yaml

from flowproof_addons.matching.divergence import Divergence
from flowproof_addons.trace import file
from flowproof_runner import cassette
from flowproof_runner.doctor.varied import Variation, variation
from flowproof_runner.flow import Flows
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
    """The last replay, with all the pins found."""

    @property
    def pins(self) -> tuple[tuple[str, ...], ...]:
        """The pins to put into the spec, the lines of each."""
        return tuple(one.pin for one in self.variations if one.pin)

    @property
    def steady(self) -> bool:
        """True when the recording replays as the spec stands."""
        return self.result.verdict == "pass" and not self.variations


def again(spec: LoadedSpec, flows: Flows, folder: Callable[[], Path]) -> Second:
    """Replay the fresh cassette, pinning in memory what differs, until it holds or nothing more can be pinned."""
    found: list[Variation] = []
    result = flows.run(spec, "replay", folder())
    for _ in range(_ROUNDS):
        new = [one for one in _variations(flows, result) if one.pin not in [each.pin for each in found]]
        found += new
        if not any(one.pin for one in new):
            break
        pinned = _pinned(spec, [one.pin for one in found if one.pin])
        result = flows.run(pinned, "replay", folder())
    return Second(spec.path, tuple(found), result)


def write(second: Second) -> None:
    """Put the pins into the spec and tell the cassette of it: it was recorded with this spec, but for them.

    Raises EditError if the spec cannot take them.
    """
    text = with_pins(text_of(second.spec), second.pins)
    second.spec.write_bytes(text.encode())
    path = cassette.path_of(second.spec)
    file.save(path, replace(file.load(path), spec=load(second.spec).digest))


def tell(second: Second, written: bool) -> str:
    """What a user reads."""
    if second.steady:
        return f"{second.spec}: the same twice\n"
    lines = [f"{second.spec}: not the same twice"]
    for one in second.variations:
        turn = f"turn {one.turn}" if one.turn else "side call"
        lines.append(f"  {turn}: {one.path} ({one.kind}): {one.first!r} / {one.second!r}")
    if second.pins:
        lines += ["  pins, written into the spec:" if written else "  pins to put into the spec (or use --write):"]
        lines += ["    pins:", *(f"    {line}" for pin in second.pins for line in pin)]
    if second.result.verdict != "pass":
        lines += ["  and with these pins it still fails:" if second.pins else "  and no pin would mend it:"]
        lines += [f"    {finding.message}" for finding in second.result.findings[:3]]
    return "\n".join((*lines, ""))


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
    return replace(first, pin=report.pin[1:] or first.pin)


def _pinned(spec: LoadedSpec, pins: Sequence[Sequence[str]]) -> LoadedSpec:
    read = yaml.safe_load("\n".join(line for pin in pins for line in pin))
    entries = tuple(PinEntry.model_validate(each) for each in read)
    return replace(spec, spec=spec.spec.model_copy(update={"pins": (*spec.spec.pins, *entries)}))
