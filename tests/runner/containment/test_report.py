"""The journal's events folded into a report: one violation per destination, however often it was tried."""

from __future__ import annotations

from typing import Any

from flowproof_runner.containment import evidence
from flowproof_runner.containment.gathering import Gathering
from flowproof_runner.containment.report import (
    ENFORCED,
    ENFORCED_WITH_LANDLOCK,
    Asked,
    ContainmentReport,
    FileEvent,
    Narrowed,
    Process,
    UnixPeer,
    Violation,
    enforced,
    not_contained,
)


def gather(tier: str, events: list[dict[str, Any]]) -> ContainmentReport:
    gathering = Gathering()
    for one in events:
        gathering.add(one)
    return gathering.report(tier)


def event(kind: str, **fields: Any) -> dict[str, Any]:
    return {"event": kind, "at_ms": 5.0, "chain": [[12, "curl"], [11, "sh"]], **fields}


CURL = (Process(12, "curl"), Process(11, "sh"))


def test_attempts_at_one_destination_are_one_violation() -> None:
    tries = [event("denied", to="198.51.100.9:443", protocol="tcp", name="") for _ in range(3)]
    tries[2]["name"] = "api.example.com"
    other = event("denied", to="198.51.100.9:443", protocol="udp", name="")
    found = gather(ENFORCED, [*tries, other]).violations
    assert found == (
        Violation("198.51.100.9:443", "tcp", "connect", "api.example.com", CURL, 5.0, 3),
        Violation("198.51.100.9:443", "udp", "connect", "", CURL, 5.0, 1),
    )


def test_an_undeclared_name_is_a_violation_a_declared_or_harmless_one_is_not() -> None:
    names = [
        event("name", name="evil.example", type="A", declared=False, harmless=False),
        event("name", name="evil.example", type="AAAA", declared=False, harmless=False),
        event("name", name="api.example.com", type="A", declared=True, harmless=False),
        event("name", name="builder", type="A", declared=False, harmless=True),
    ]
    report = gather(ENFORCED, names)
    assert [(one.to, one.protocol, one.kind, one.count) for one in report.violations] == [
        ("evil.example", "dns", "name", 2)
    ]
    assert Asked("api.example.com", "A", True) in report.names
    assert len(report.names) == 4


def test_a_destination_out_of_a_variable_is_told_without_its_value() -> None:
    hidden = {"198.51.100.9": "${HOST}", "2001:db8::9": "${HOST}", "api.example.com": "${HOST}"}
    gathering = Gathering(hidden)
    gathering.add(event("denied", to="198.51.100.9:80", protocol="tcp", name="api.example.com"))
    gathering.add(event("denied", to="[2001:db8::9]:81", protocol="tcp", name=""))
    gathering.add(event("denied", to="203.0.113.1:80", protocol="tcp", name=""))
    gathering.add(event("name", name="api.example.com", type="A", declared=True, harmless=False))
    report = gathering.report(ENFORCED)
    assert [(one.to, one.name) for one in report.violations] == [
        ("${HOST}:80", "${HOST}"),
        ("${HOST}:81", ""),
        ("203.0.113.1:80", ""),
    ]
    assert report.names == (Asked("${HOST}", "A", True),)


def test_every_other_kind_of_event_has_its_place() -> None:
    report = gather(
        ENFORCED,
        [
            event("started", pid=1, landlock=0),
            event("probe", to="192.0.2.1:9"),
            event("probe", to="198.51.100.9:53"),
            event("listen", to="0.0.0.0:7000", protocol="udp", name=""),
            event("narrowed", to="0.0.0.0:80", now="127.0.0.1:80"),
            event("narrowed", to="0.0.0.0:80", now="127.0.0.1:80"),
            event("unix", path="/run/x.sock", inside=False, refused=False),
            event("denied", to="unix:/run/docker.sock", protocol="unix"),
            event("file", call="unlink", paths=["/a"], flags="", existed=True),
            event("fault", message="broken"),
            event("fault", message="broken"),
            event("exited", code=0),
        ],
    )
    assert report == ContainmentReport(
        ENFORCED,
        violations=(
            Violation("0.0.0.0:7000", "udp", "listen", "", CURL, 5.0),
            Violation("unix:/run/docker.sock", "unix", "unix", "", CURL, 5.0),
        ),
        probes=("198.51.100.9:53",),
        narrowed=(Narrowed("0.0.0.0:80", "127.0.0.1:80"),),
        unix=(UnixPeer("/run/x.sock", False),),
        files=(FileEvent("unlink", ("/a",), at_ms=5.0),),
        faults=("broken",),
    )


def test_the_tiers_are_exactly_these_words() -> None:
    assert (ENFORCED_WITH_LANDLOCK, ENFORCED) == ("enforced (linux seccomp+landlock)", "enforced (linux seccomp)")
    assert not_contained("no seccomp") == "not contained (no seccomp)"
    assert [enforced(t) for t in (ENFORCED, ENFORCED_WITH_LANDLOCK, not_contained("x"), "enforced", "")] == [
        *[True] * 2,
        *[False] * 3,
    ]


def test_a_call_is_destructive_when_something_is_lost_by_it() -> None:
    trunc = "O_WRONLY|O_CREAT|O_TRUNC"
    calls = {
        FileEvent("unlink", ("/a",)): True,
        FileEvent("openat", ("/a",), trunc): True,
        FileEvent("openat", ("/a",), trunc, existed=False): False,
        FileEvent("openat", ("/a",), "O_WRONLY|O_APPEND"): False,
        FileEvent("mkdir", ("/a",)): False,
        FileEvent("rename", ("/a", "/b")): True,
    }
    assert {call: call.destructive for call in calls} == calls


def test_what_was_blocked_is_kept_only_of_a_contained_run_and_files_never() -> None:
    report = ContainmentReport(
        ENFORCED, (Violation("198.51.100.9:443", "tcp"),), files=(FileEvent("unlink", ("/home/alice/x",)),)
    )
    kept = evidence.as_json(report, ["${SERVICE}:443"])
    assert kept["allow_egress"] == ["${SERVICE}:443"]
    assert kept["blocked"] == [
        {"destination": "198.51.100.9:443", "protocol": "tcp", "kind": "connect", "name": "", "count": 1}
    ]
    assert "alice" not in str(kept)
    outside = evidence.as_json(ContainmentReport(not_contained("why"), report.violations), None)
    assert outside == {"tier": "not contained (why)", "allow_egress": None}
