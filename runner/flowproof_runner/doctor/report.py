"""A diagnosis as people read it. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from flowproof_addons.dialects.base import Registry
from flowproof_runner.containment.report import Violation
from flowproof_runner.doctor import via
from flowproof_runner.doctor.diagnosis import Arrival, Diagnosis
from flowproof_runner.findings import Exit

_URL = "http://127.0.0.1:PORT"


def render(diagnosis: Diagnosis, registry: Registry) -> str:
    """The whole report."""
    return "\n".join((*_lines(diagnosis, registry), ""))


def _lines(diagnosis: Diagnosis, registry: Registry) -> Iterator[str]:
    yield f"agent      {diagnosis.command}"
    yield f"ended      {_ending(diagnosis)}"
    yield from _block("note", list(diagnosis.notes))
    yield from _block("arrived", [_arrival(arrival) for arrival in diagnosis.arrivals] or ["nothing"])
    if diagnosis.adapter:
        yield from _block("tools", [_called(name, count) for name, count in diagnosis.tools.items()] or ["none called"])
    if diagnosis.honoured:
        yield f"honoured   {', '.join(diagnosis.honoured)}"
    for name in diagnosis.clients:
        yield f"client     {name}: it has a profile; put `client: {name}` into the spec"
    if not diagnosis.clock_honoured:
        yield "clock      honoured by no process of the agent: it works for Python and Node"
    if diagnosis.retries:
        yield f"retries    {diagnosis.retries}: requests that were sent again"
    yield from _block("elsewhere", _elsewhere(diagnosis))
    if diagnosis.lanes:
        yield from _block("MCP", [f"{name}: {_contacted(count)}" for name, count in diagnosis.lanes.items()])
    if diagnosis.runs > 1:
        yield from _block("varied", list(_varied(diagnosis)))
    yield f"containment {diagnosis.tier}"
    yield from (f"           {line}" for line in _raise(diagnosis))
    yield from _block("problem", list(diagnosis.problems)) if diagnosis.problems else ()
    yield ""
    yield _verdict(diagnosis)
    if not diagnosis.wired:
        yield from _wiring(diagnosis, registry)


def _block(name: str, lines: list[str]) -> Iterator[str]:
    for number, line in enumerate(lines):
        yield f"{name if not number else '':<10} {line}"


def _ending(diagnosis: Diagnosis) -> str:
    if diagnosis.port:
        return "answered" if diagnosis.ending == "exited" else f"{diagnosis.ending}: the service had not answered"
    code = f" with code {diagnosis.exit_code}" if diagnosis.exit_code is not None else ""
    words = {"timed out": "stopped at the timeout, with all it started; does it wait for input?"}
    left = f"; it left {diagnosis.survivors} processes running, ended" if diagnosis.survivors else ""
    return words.get(diagnosis.ending, f"{diagnosis.ending}{code}") + left


def _arrival(arrival: Arrival) -> str:
    times = f"{arrival.count} x " if arrival.count > 1 else ""
    failed = f", answered {arrival.status}" if arrival.status >= 400 else ""
    client = f" from {arrival.client}" if arrival.client else ""
    return f"{times}{arrival.dialect or 'side call'}: {arrival.method} {arrival.path}{client}{failed}"


def _elsewhere(diagnosis: Diagnosis) -> list[str]:
    seen = [_violation(one) for one in diagnosis.elsewhere]
    seen += [f"{name}, not refused: agent.allow_egress has it" for name in diagnosis.declared]
    if seen:
        return seen
    return ["nothing"] if diagnosis.observed else ["not known: nothing here can see the agent's connections"]


def _violation(one: Violation) -> str:
    name = f" ({one.name})" if one.name else ""
    times = f", {one.count} times" if one.count > 1 else ""
    by = f", by {one.chain[0].name}" if one.chain else ""
    return f"{one.to}{name} {one.protocol}, refused{times}{by}"


def _called(name: str, count: int) -> str:
    return f"{name}, {count} times" if count > 1 else name


def _contacted(count: int) -> str:
    return f"contacted, {count} messages" if count else "not contacted"


def _varied(diagnosis: Diagnosis) -> Iterator[str]:
    if not diagnosis.variations:
        yield "nothing between two runs"
    for one in diagnosis.variations:
        turn = f"turn {one.turn}: " if one.turn else ""
        yield f"{turn}{one.path} ({one.kind}): {one.first!r} / {one.second!r}"
    pins = [line for one in diagnosis.variations for line in one.pin]
    yield from ("pins:", *pins) if pins else ()


def _raise(diagnosis: Diagnosis) -> Iterator[str]:
    """What would make containment stronger here."""
    tier = diagnosis.machine or diagnosis.tier
    if diagnosis.machine:
        yield f"to raise it: an agent.command; on this machine one is {tier}"
    if tier.startswith("not contained"):
        yield "to raise it: Linux 5.19 or newer, where seccomp may be used (containers: not with seccomp filters"
        yield "that refuse seccomp() itself, nor under gVisor)"
    elif "landlock" not in tier:
        yield "to raise it: a kernel with Landlock switched on (lsm=landlock,... at boot, Linux 6.7 or newer)"


def _verdict(diagnosis: Diagnosis) -> str:
    if diagnosis.exit is Exit.UNUSABLE:
        return "could not be examined"
    if not diagnosis.wired and diagnosis.adapter:
        return "NOT WIRED: the adapter did not come to its end"
    if not diagnosis.wired:
        return "NOT WIRED: no model request arrived at flowproof"
    if diagnosis.elsewhere:
        return "wired, but the agent went elsewhere too: silence it, or list it under agent.allow_egress"
    if not diagnosis.turns:
        return "wired: the adapter talks to flowproof; no model of it does"
    return "wired: the agent's model requests arrive at flowproof"


def _wiring(diagnosis: Diagnosis, registry: Registry) -> Iterator[str]:
    if diagnosis.adapter:
        yield "An adapter reads `run_start` and ends with `final`: docs/contracts.md has the protocol."
        return
    if diagnosis.port:
        yield f"The service must be started with its model's base URL at http://127.0.0.1:{diagnosis.port}/v1 (without"
        yield "/v1 for Anthropic and Google SDKs): that port is agent.proxy_port."
        yield from _looked_at(registry)
        return
    yield "Map one of these to the setting of your agent that holds its model's base URL:"
    yield "  in agent.command or agent.env   ${flowproof.proxy_url} (ends in /v1) or ${flowproof.proxy_url_no_v1}"
    yield "  set in its environment already:"
    yield from (f"    {name}={value}" for name, value in via.offered(_URL).items())
    yield from _looked_at(registry)
    yield "A client with its own configuration file (codex, opencode, pi) needs the handle written into that file."


def _looked_at(registry: Registry) -> Iterator[str]:
    variables = dict.fromkeys(name for dialect in registry.dialects for name in dialect.base_url_variables)
    yield f"  where SDKs look for it: {', '.join(variables)}"
