"""A containment report as a run record may keep it.

Files are left out: a record is kept and passed around, and their paths are absolute.
"""

from __future__ import annotations

from collections.abc import Sequence

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.containment.report import ContainmentReport, enforced


def as_json(report: ContainmentReport, entries: Sequence[str] | None) -> dict[str, JsonValue]:
    """Tier, declared entries as the spec has them, and, only if this run was contained, what was attempted."""
    record: dict[str, JsonValue] = {"tier": report.tier, "allow_egress": list(entries) if entries is not None else None}
    if not enforced(report.tier):
        return record
    return record | {
        "blocked": [
            {"destination": v.to, "protocol": v.protocol, "kind": v.kind, "name": v.name, "count": v.count}
            for v in report.violations
        ],
        "names": [{"name": n.name, "type": n.type, "declared": n.declared} for n in report.names],
        "probes": list(report.probes),
        "narrowed": [{"asked": n.asked, "bound": n.bound} for n in report.narrowed],
        "unix": [{"path": u.path, "inside": u.inside, "refused": u.refused} for u in report.unix],
        "faults": list(report.faults),
    }
