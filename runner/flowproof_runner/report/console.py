"""What a person reads: a line per flow while it runs, and at the end all that failed with what to do about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence

from flowproof_runner.drivers.tail import clean
from flowproof_runner.findings import Verdict
from flowproof_runner.report import causes, words
from flowproof_runner.report.style import Colour, Style
from flowproof_runner.result import AgentEnd, FindingResult, FlowResult, PinUse, RunResult, SharedCause

_COLOURS: Mapping[Verdict, Colour] = {"pass": "green", "fail": "red", "error": "red", "skip": "yellow"}
_ORDER: Sequence[Verdict] = ("fail", "error", "pass", "skip")
_NAMES: Mapping[Verdict, str] = {"fail": "failed", "error": "in error", "pass": "passed", "skip": "skipped"}
_RECORDED = "recorded"


def line(flow: FlowResult, style: Style) -> str:
    """One flow that ran in one line: `PASS   0.8 s  3 turns  specs/booking.flow.yaml · Books a flight`."""
    word = "SAVED" if flow.phase == "record" and flow.verdict == "pass" else flow.verdict.upper()
    parts = [
        style(f"{word:5}", _COLOURS[flow.verdict], "bold"),
        style(f"{words.seconds(flow.duration_s):>7}", "dim"),
        f"{words.turns(flow.counts):>13}",
        clean(words.title(flow)),
    ]
    return "  ".join(parts)


def summary(run: RunResult, style: Style) -> str:
    """Everything that failed, the notes worth knowing, and the total."""
    return "\n".join(_summary(run, style)) + "\n"


def _summary(run: RunResult, style: Style) -> Iterator[str]:
    told: dict[Hashable, str] = {}
    for flow in run.flows:
        if flow.verdict in ("fail", "error") and not _is_told(flow, told):
            yield ""
            yield from _failed(flow, told, style)
    for cause in run.causes:
        yield ""
        yield from _cause(cause, style)
    yield from _remarks(run, style)
    yield from _skipped(run, style)
    yield ""
    yield from _tiers(run, style)
    yield _total(run, style)


def _skipped(run: RunResult, style: Style) -> Iterator[str]:
    """One line for all flows that were skipped for one reason."""
    reasons: dict[str, list[FlowResult]] = {}
    for flow in run.flows:
        if flow.verdict == "skip":
            reasons.setdefault(flow.reason, []).append(flow)
    if reasons:
        yield ""
    for reason, flows in reasons.items():
        first = clean(words.title(flows[0]))
        more = f" and {len(flows) - 1} more" if len(flows) > 1 else ""
        yield f"{style('SKIP', 'yellow', 'bold')}  {first}{more}" + style(f"  ({clean(reason)})", "dim")


def _tiers(run: RunResult, style: Style) -> Iterator[str]:
    """What held the agents, on every run and every platform: a pass means less where nothing did."""
    tiers = Counter(flow.containment for flow in run.flows if flow.verdict != "skip")
    for tier, count in tiers.items():
        yield style(f"network: {clean(tier)}" + (f" · {words.number(count, 'flow')}" if len(tiers) > 1 else ""), "dim")


def _is_told(flow: FlowResult, told: Mapping[Hashable, str]) -> bool:
    """True when flows before this one have shown all it would show: it is named among those of the one cause."""
    roots = causes.roots(flow)
    return bool(roots) and all(causes.identity(found) in told for found in roots)


def _failed(flow: FlowResult, told: dict[Hashable, str], style: Style) -> Iterator[str]:
    yield f"{style(f' {flow.verdict.upper()} ', 'red', 'bold')} {style(clean(words.title(flow)), 'bold')}"
    for found in flow.findings:
        if found.caused_by is None:
            yield ""
        yield from _finding(found, flow, told, style)
    if flow.agent is not None:
        yield ""
        yield from _agent(flow.agent, style)
    if flow.trace is not None:
        yield style(f"  timeline: flowproof show {flow.trace}", "dim")


def _finding(found: FindingResult, flow: FlowResult, told: dict[Hashable, str], style: Style) -> Iterator[str]:
    critical = " CRITICAL" if found.severity == "critical" else ""
    first, *more = clean(found.message).split("\n")
    name = style(f"[{found.id}]", "dim")
    if found.caused_by is not None:
        yield f"  · {first} {name}"
        return
    yield f"{style('  ✗ ', 'red')}{style(first, 'bold')}{style(critical, 'red', 'bold')} {name}"
    yield from (f"    {text}" for text in more)
    if found.where:
        yield style(f"    at {found.where}", "cyan")
    earlier = told.setdefault(causes.identity(found), flow.spec)
    if found.detail and earlier != flow.spec:
        yield style(f"    the same as in {earlier} above", "dim")
    elif found.detail:
        yield from (f"    {_diff(text, style)}" for text in clean(found.detail).split("\n"))


def _diff(text: str, style: Style) -> str:
    """Colours the lines of a difference: `-` what was recorded or expected, `+` what came."""
    bare = text.lstrip()
    if bare.startswith("- "):
        return style(text, "red")
    return style(text, "green") if bare.startswith("+ ") else text


def _agent(agent: AgentEnd, style: Style) -> Iterator[str]:
    path = agent.stderr if agent.tail_of == "stderr" else agent.stdout
    if not agent.tail:
        yield f"  the agent {words.end(agent)}" + (" and printed nothing" if path is not None or agent.stdout else "")
        return
    yield f"  the agent {words.end(agent)}; the end of its {agent.tail_of} ({path}):"
    yield from (style(f"    │ {text}", "dim") for text in agent.tail)


def _cause(cause: SharedCause, style: Style) -> Iterator[str]:
    """One item for all the flows that one cause made fail."""
    yield style(f"One cause in {len(cause.specs)} flows: ", "bold") + clean(cause.message.split("\n")[0])
    yield style(f"  {', '.join(cause.specs)}", "dim")
    if accept := words.accept(cause):
        yield f"  {accept}"


def _remarks(run: RunResult, style: Style) -> Iterator[str]:
    notes: dict[str, list[str]] = {}
    for flow in run.flows:
        for note in flow.notes:
            notes.setdefault(note, []).append(flow.spec)
    pins = [(flow.spec, pin) for flow in run.flows for pin in flow.pins]
    if notes or run.notes or pins or any(flow.faults for flow in run.flows):
        yield ""
    yield from (f"{style('note', 'yellow')}  {clean(note)}" for note in run.notes)
    yield from (f"{style('note', 'yellow')}  {', '.join(specs)}: {clean(note)}" for note, specs in notes.items())
    for spec, pin in pins:
        used = f"fired {words.number(pin.count, 'time')}" if pin.count else "was never needed: remove it"
        yield f"{style('pin', 'cyan')}   {spec}: {clean(pin.name)} {used}" + _reason(pin)
    for flow in run.flows:
        yield from (f"{style('fault', 'cyan')} {flow.spec}: {clean(words.fault(each))}" for each in flow.faults)


def _reason(pin: PinUse) -> str:
    told = [part for part in (pin.why, pin.source and f"from {pin.source}") if part]
    return f" ({clean('; '.join(told))})" if told else ""


def _total(run: RunResult, style: Style) -> str:
    counts: list[tuple[Verdict, int]] = [(verdict, run.count(verdict)) for verdict in _ORDER]
    parts = [style(f"{count} {_name(run, verdict)}", _COLOURS[verdict], "bold") for verdict, count in counts if count]
    what = ", ".join(parts) or "nothing ran"
    nothing = "; nothing was tested" if run.verdict == "skip" else ""
    return f"{what}{nothing} in {words.seconds(run.duration_s)} · {style(run.folder, 'dim')}"


def _name(run: RunResult, verdict: Verdict) -> str:
    return _RECORDED if run.command == "record" and verdict == "pass" else _NAMES[verdict]
