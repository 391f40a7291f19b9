"""From what a spec says about the network to the policy one run is held to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from flowproof_addons.errors import FlowproofError
from flowproof_runner.containment import machine
from flowproof_runner.containment.machine import Machine
from flowproof_runner.containment.policy import Entry, Policy, Resolver, parse, pin


class EntryError(FlowproofError):
    """An entry of `agent.allow_egress` is no destination."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What one flow asks of containment."""

    entries: tuple[Entry, ...] = ()
    """The declared destinations, names not yet looked up."""
    declared: bool = False
    """`agent.allow_egress` is in the spec, be it empty."""
    certify: bool = False
    """`assert_no_egress` is among the steps."""
    writes: bool = False
    """`assert_no_side_effect: fs_write` is among the steps."""

    @property
    def engaged(self) -> bool:
        """True when the agent is to be contained."""
        return self.declared or self.certify or self.writes

    def policy(self, here: Machine | None = None, resolve: Resolver = machine.resolve) -> Policy:
        """The policy, with every declared name looked up now and bound to what was found."""
        here = here or machine.read()
        pinned = tuple(pin(entry, resolve) for entry in self.entries)
        daemons = machine.daemons() if self.certify else ()
        return Policy(pinned, self.certify, here.nameservers, here.search, daemons, self.writes)


def plan(
    allow_egress: Sequence[str] | None,
    values: Sequence[str] | None = None,
    *,
    certify: bool = False,
    writes: bool = False,
    where: str = "agent.allow_egress",
) -> Plan:
    """Read the entries; `values` are the same ones with their variables resolved, `where` is `file:line`.

    Raises EntryError naming each entry that is no destination, as the spec has it: a resolved value is never shown.
    """
    texts = tuple(allow_egress or ())
    entries, wrong = _read(zip(texts, values or texts, strict=True))
    if wrong:
        raise EntryError("\n".join(f"{where}: {line}" for line in wrong))
    return Plan(entries, allow_egress is not None, certify, writes)


def _read(pairs: Iterable[tuple[str, str]]) -> tuple[tuple[Entry, ...], list[str]]:
    entries, wrong = [], []
    for text, value in pairs:
        try:
            entries.append(parse(text, value))
        except ValueError as error:
            wrong.append(f"{text!r}: {error}")
    return tuple(entries), wrong


def unresolved(policy: Policy) -> tuple[str, ...]:
    """The declared entries whose name has no address here, as the spec has them: they allow nothing."""
    return tuple(entry.text for entry in policy.entries if entry.name and not entry.networks)
