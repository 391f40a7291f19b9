"""What an examination shows, as plain facts. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from flowproof_addons.trace.model import Exchange, JsonValue
from flowproof_runner.containment.report import Violation, enforced
from flowproof_runner.doctor import via
from flowproof_runner.doctor.examination import Examination
from flowproof_runner.doctor.patient import Patient
from flowproof_runner.doctor.varied import Variation, varied
from flowproof_runner.drivers.base import Ending
from flowproof_runner.evidence.model import Decided
from flowproof_runner.findings import Exit
from flowproof_runner.spec.clients.profile import recognised

_NO_SOCKET = 426


@dataclass(frozen=True, slots=True)
class Arrival:
    """Requests of one kind that arrived."""

    dialect: str | None
    """None: a side call."""
    method: str
    path: str
    """Without the mark that tells which variable led here."""
    client: str
    """The user agent."""
    via: str
    """The variable or handle the agent followed; empty when that cannot be told."""
    status: int
    count: int


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Everything a doctor says."""

    command: str
    ending: Ending
    exit_code: int | None
    arrivals: tuple[Arrival, ...]
    retries: int
    """Requests that repeat the one before, or that the client sent again after an error."""
    elsewhere: tuple[Violation, ...]
    tier: str
    lanes: Mapping[str, int]
    """Per MCP server: messages its stand-in received."""
    variations: tuple[Variation, ...] = ()
    """What differed between two runs; empty also when there was but one."""
    runs: int = 1
    survivors: int = 0
    problems: tuple[str, ...] = ()
    clients: tuple[str, ...] = ()
    """Built-in profiles of the clients that called, which the spec does not name."""
    clock_honoured: bool = True
    notes: tuple[str, ...] = ()
    """What the driver noticed: an unknown handle, a service's answer."""
    adapter: bool = False
    """It speaks our protocol, and is wired without any model."""
    tools: Mapping[str, int] = field(default_factory=dict)
    """Per tool: how often an adapter called it."""
    port: int = 0
    """The fixed port of a spec, where its agent expects the model."""
    declared: tuple[str, ...] = ()
    """Hosts of `agent.allow_egress` that it looked up, and was let through to."""
    machine: str = ""
    """Where this agent cannot be contained: what holds one that can be."""

    @property
    def turns(self) -> int:
        """Model requests that arrived."""
        return sum(arrival.count for arrival in self.arrivals if arrival.dialect is not None)

    @property
    def honoured(self) -> tuple[str, ...]:
        """The variables and handles that led a model request here."""
        return tuple(dict.fromkeys(a.via for a in self.arrivals if a.via and a.dialect is not None))

    @property
    def exit(self) -> Exit:
        """0: wired. 1: no model request arrived, or the agent went elsewhere. 2: it could not be examined."""
        if self.problems:
            return Exit.UNUSABLE
        return Exit.PASS if self.wired and not self.elsewhere else Exit.FAILED

    @property
    def wired(self) -> bool:
        """True when flowproof sees what the agent does: its model requests, or the whole talk of an adapter."""
        return bool(self.turns) or (self.adapter and self.ending == "exited")

    @property
    def observed(self) -> bool:
        """True when connections elsewhere would have been seen."""
        return enforced(self.tier)


def diagnose(patient: Patient, first: Examination, second: Examination | None = None, machine: str = "") -> Diagnosis:
    """Read one examination, and what varied if there was another. `machine`: the tier of agents that can be contained,
    where this one cannot.
    """
    exchanges = first.outcome.exchanges
    broken = (first.agent.problem,) if first.agent.problem else ()
    return Diagnosis(
        command=patient.shown,
        ending=first.agent.ending,
        exit_code=first.agent.exit_code,
        arrivals=(*arrivals(exchanges), *_waved(first.outcome.policy)),
        retries=retries(exchanges),
        elsewhere=first.contained.violations,
        tier=first.contained.tier,
        lanes={name: _messages(lane) for name, lane in first.outcome.lanes.items()},
        variations=varied(exchanges, second.outcome.exchanges) if second else (),
        runs=2 if second else 1,
        survivors=first.agent.survivors,
        problems=(*first.outcome.problems, *broken),
        clients=tuple(name for name in _clients(exchanges) if name != patient.client),
        clock_honoured=first.clock_honoured,
        notes=first.agent.notes,
        adapter=patient.adapter,
        tools=Counter(event.tool for event in first.agent.events if isinstance(event, Decided)),
        port=patient.port,
        declared=tuple(dict.fromkeys(asked.name for asked in first.contained.names if asked.declared)),
        machine=machine,
    )


def arrivals(exchanges: Iterable[Exchange]) -> Iterator[Arrival]:
    """The requests by kind, in the order of the first of each."""
    counted = Counter(_kind(exchange) for exchange in exchanges)
    for (dialect, method, path, client, led, status), count in counted.items():
        yield Arrival(dialect, method, path, client, led, status, count)


def _waved(policy: Iterable[Mapping[str, JsonValue]]) -> Iterator[Arrival]:
    """Requests that are no exchange: answered the same whatever is recorded."""
    counted = Counter(tuple(asked[name] for name in ("method", "path", "client", "status")) for asked in policy)
    for (method, path, client, status), count in counted.items():
        led, plain = via.read(str(path))
        kind = "WebSocket" if status == _NO_SOCKET else str(method)
        yield Arrival(None, kind, plain, str(client), led, int(str(status)), count)


def _clients(exchanges: Iterable[Exchange]) -> Iterator[str]:
    agents = dict.fromkeys(e.request.headers.get("user-agent", "") for e in exchanges if e.is_turn)
    yield from dict.fromkeys(client.name for agent in agents if (client := recognised(agent)) is not None)


def retries(exchanges: Iterable[Exchange]) -> int:
    """How often a client tried again: after an error, or by sending the very same turn twice in a row."""
    seen = [exchange for exchange in exchanges if exchange.is_turn]
    repeated = sum(
        one.request.digest == other.request.digest and one.request.path == other.request.path
        for one, other in pairwise(seen)
    )
    return repeated + sum(len(exchange.attempts) for exchange in seen)


def _kind(exchange: Exchange) -> tuple[str | None, str, str, str, str, int]:
    request = exchange.request
    led, path = via.read(request.path)
    return exchange.dialect, request.method, path, request.headers.get("user-agent", ""), led, exchange.reply.status


def _messages(lane: JsonValue) -> int:
    recorded = lane.get("lane") if isinstance(lane, dict) else None
    return sum(len(part) for part in recorded.values() if isinstance(part, list)) if isinstance(recorded, dict) else 0
