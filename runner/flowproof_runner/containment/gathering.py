"""The supervisor's journal folded into a report as it comes in, so that a noisy agent costs no memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from flowproof_runner.containment.order import PROBE
from flowproof_runner.containment.report import (
    Asked,
    ContainmentReport,
    FileEvent,
    Narrowed,
    Process,
    UnixPeer,
    Violation,
)

SELF_TEST: Final = "{}:{}".format(*PROBE)
"""The launch's own probe, which is no news."""


class Gathering:
    """What has been seen so far. Things seen twice are kept once."""

    def __init__(self, hidden: Mapping[str, str] | None = None) -> None:
        """`hidden`: hosts and addresses that are not to be shown, with what is shown instead."""
        self._hidden = hidden or {}
        self._violations: dict[tuple[str, str, str], Violation] = {}
        self._names: dict[Asked, None] = {}
        self._probes: dict[str, None] = {}
        self._narrowed: dict[Narrowed, None] = {}
        self._unix: dict[UnixPeer, None] = {}
        self._files: list[FileEvent] = []
        self._faults: dict[str, None] = {}

    def add(self, event: Mapping[str, Any]) -> None:
        """Take in one event; those of a launch and its end are not this report's."""
        event = {**event, **{key: self._shown(event[key]) for key in ("to", "name") if key in event}}
        match event["event"]:
            case "denied" | "listen":
                self._count(_violation(event))
            case "name":
                self._name(event)
            case "probe" if event["to"] != SELF_TEST:
                self._probes[event["to"]] = None
            case "narrowed":
                self._narrowed[Narrowed(event["to"], event["now"])] = None
            case "unix":
                self._unix[UnixPeer(event["path"], event["inside"], event["refused"])] = None
            case "file":
                self._files.append(_file(event))
            case "fault":
                self.fault(event["message"])

    def fault(self, message: str) -> None:
        """Note a reason why the run cannot be certified."""
        self._faults[message] = None

    def report(self, tier: str) -> ContainmentReport:
        """All of it."""
        return ContainmentReport(
            tier,
            tuple(self._violations.values()),
            tuple(self._names),
            tuple(self._probes),
            tuple(self._narrowed),
            tuple(self._unix),
            tuple(self._files),
            tuple(self._faults),
        )

    def _shown(self, text: str) -> str:
        if text in self._hidden:
            return self._hidden[text]
        host, colon, port = text.rpartition(":")
        bare = host.removeprefix("[").removesuffix("]")
        return f"{self._hidden[bare]}:{port}" if colon and bare in self._hidden else text

    def _name(self, event: Mapping[str, Any]) -> None:
        asked = Asked(event["name"], event["type"], event["declared"], event["harmless"])
        self._names[asked] = None
        if not asked.declared and not asked.harmless:
            self._count(_violation({**event, "to": asked.name, "protocol": "dns", "name": ""}))

    def _count(self, one: Violation) -> None:
        key = one.to, one.protocol, one.kind
        before = self._violations.get(key)
        if before:
            one = replace(before, count=before.count + 1, name=before.name or one.name)
        self._violations[key] = one


def _violation(event: Mapping[str, Any]) -> Violation:
    reached = "unix" if event["protocol"] == "unix" else "connect"
    kind = event["event"] if event["event"] in ("listen", "name") else reached
    chain = tuple(Process(pid, name) for pid, name in event["chain"])
    return Violation(event["to"], event["protocol"], kind, event.get("name", ""), chain, event["at_ms"])


def _file(event: Mapping[str, Any]) -> FileEvent:
    return FileEvent(event["call"], tuple(event["paths"]), event["flags"], event["existed"], event["at_ms"])
