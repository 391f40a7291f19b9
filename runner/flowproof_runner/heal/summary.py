"""What healing found, for a terminal and for a pull request."""

from __future__ import annotations

from collections.abc import Sequence

from flowproof_runner.drivers.tail import clean
from flowproof_runner.heal.proposal import Proposal
from flowproof_runner.report.style import Style
from flowproof_runner.result import FindingResult
from flowproof_runner.trajectory import render
from flowproof_runner.trajectory.render import Item


def text(proposals: Sequence[Proposal], applied: bool, asked: bool, style: Style) -> str:
    """The changes, each once, then what becomes of each flow."""
    lines = [f"{one.spec}: {clean(_state(one, applied))}" for one in proposals]
    for one in proposals:
        for found in one.result.findings:
            lines += [f"  ✗ {clean(found.message)}", *(f"    {each}" for each in _details(found))]
    if asked and not applied:
        lines.append("nothing was applied: every flow must hold first")
    return render.text(_items(proposals), style) + "".join(f"{line}\n" for line in lines)


def markdown(proposals: Sequence[Proposal], applied: bool) -> str:
    """The same for people who review it."""
    lines = ["## flowproof heal", ""]
    lines += [f"- `{one.spec}`: {_state(one, applied)}" for one in proposals]
    for one in proposals:
        for found in one.result.findings:
            lines += [f"  - ✗ {' '.join(found.message.split())}", *(f"    - `{each}`" for each in _details(found))]
    return "\n".join(lines) + "\n\n" + render.markdown(_items(proposals))


def _details(found: FindingResult) -> list[str]:
    """What a finding is made of: the single changes of a server, the calls an assertion looked at."""
    return [line for line in clean(found.detail).split("\n") if line]


def _items(proposals: Sequence[Proposal]) -> list[Item]:
    return render.grouped({str(one.spec): one.items for one in proposals})


def _state(one: Proposal, applied: bool) -> str:
    if one.recorded is None:
        return f"skipped: {one.result.reason}" if one.result.verdict == "skip" else "does not hold, nothing to apply"
    if applied:
        return "cassette replaced"
    differs = "differs" if one.difference else "does and is told the same"
    return f"{differs}; proposal: {one.recorded}"
