"""What a run's containment report means for its verdict. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from flowproof_runner.containment.report import ContainmentReport, FileEvent, Violation, enforced
from flowproof_runner.findings import Finding

UNDECLARED = "egress.undeclared"
LISTENED = "egress.listen"
UNCERTIFIED = "egress.uncertified"
WROTE = "side_effect.fs_write"
WROTE_UNCERTIFIED = "side_effect.uncertified"
_SHOWN = 20
"""Lines about destroyed files: a removed node_modules would fill a log."""
_BYTECODE = "/__pycache__/"
"""What Python compiles for itself: replaced by the thousand at the first import of an SDK, and nothing is lost."""
_NEVER = "which file that is cannot be told from here, so no `except:` covers it"


@dataclass(frozen=True, slots=True)
class Writes:
    """`assert_no_side_effect: fs_write`."""

    allowed: tuple[str, ...] = ()
    """The globs of `except:`, absolute or relative to the agent's working directory; `**` crosses folders."""
    where: str = ""


def egress(report: ContainmentReport, where: str) -> Iterator[Finding]:
    """Judge `assert_no_egress`: nothing undeclared was attempted, and something was there to see it."""
    yield from _uncertified(report, UNCERTIFIED, where)
    if enforced(report.tier):
        yield from (_violation(one, where) for one in report.violations)


def writes(report: ContainmentReport, step: Writes, cwd: str) -> Iterator[Finding]:
    """Judge `assert_no_side_effect: fs_write`: every attempt counts, whether it succeeded or not."""
    yield from _uncertified(report, WROTE_UNCERTIFIED, step.where)
    if not enforced(report.tier):
        return
    allowed = [_glob(pattern, cwd) for pattern in step.allowed]
    seen: dict[str, list[FileEvent]] = {}
    for event in report.files:
        for path in event.paths:
            if not _device(path) and not any(pattern.fullmatch(path) for pattern in allowed):
                seen.setdefault(path, []).append(event)
    for path, events in seen.items():
        first = events[0]
        yield Finding(
            id=WROTE,
            message=f"{path} was written by the agent: {_how(first)} at {first.at_ms:.0f} ms{_times(len(events))}",
            detail="add it to `except:` if the agent may write it" if path.startswith("/") else _NEVER,
            where=step.where,
            path=path,
        )


def notes(report: ContainmentReport, entries: Sequence[str] | None, *, certify: bool) -> Iterator[str]:
    """What people should know and no check judges. `entries` is `agent.allow_egress` as the spec has it."""
    if entries is not None and not certify:
        listed = ", ".join(entries) or "nothing"
        if not enforced(report.tier):
            yield (
                f"agent.allow_egress ({listed}) restricted nothing in this run: {report.tier}; add the step"
                " `assert_no_egress` so that such a run fails"
            )
        for one in report.violations:
            yield (
                f"refused: {_destination(one)}{_times(one.count)}, which is not in agent.allow_egress; add the step"
                " `assert_no_egress` to make this a failure"
            )
    for bind in report.narrowed:
        yield f"the agent listened on {bind.asked}; it was given {bind.bound}, which other machines cannot reach"
    if not certify:
        yield from (f"the run could not be judged completely: {fault}" for fault in report.faults)


def observation(report: ContainmentReport) -> tuple[str, ...]:
    """The lines about destroyed files for stderr; none when nothing was destroyed. They are stored nowhere."""
    destroyed = [
        event for event in report.files if event.destructive and not all(_BYTECODE in path for path in event.paths)
    ]
    if not destroyed:
        return ()
    plural = "" if len(destroyed) == 1 else "s"
    head = f"filesystem observation: observed (linux seccomp); {len(destroyed)} destructive system call{plural}"
    lines = [f"  {_how(event)} {' -> '.join(event.paths)} at {event.at_ms:.0f} ms" for event in destroyed[:_SHOWN]]
    more = len(destroyed) - len(lines)
    return (head, *lines, *([f"  … and {more:,} more"] if more else []))


def _uncertified(report: ContainmentReport, id: str, where: str) -> Iterator[Finding]:
    reasons = report.faults if enforced(report.tier) else (report.tier,)
    for reason in reasons:
        yield Finding(
            id=id,
            kind="problem",
            message=f"cannot certify: {reason}",
            detail="run it where the tier is `enforced`: Linux, with a command: agent",
            where=where,
        )


def _violation(one: Violation, where: str) -> Finding:
    did = {"listen": "listened on", "name": "asked for the address of", "connect": "tried to reach", "unix": "used"}
    chain = " < ".join(f"{process.name} ({process.pid})" for process in one.chain) or "unknown"
    return Finding(
        id=LISTENED if one.kind == "listen" else UNDECLARED,
        severity="critical",
        message=f"the agent {did[one.kind]} {_destination(one)}, which is not declared{_times(one.count)}",
        detail=f"process: {chain}\nfirst at {one.at_ms:.0f} ms\nrefused; add it to agent.allow_egress if it is meant",
        where=where,
        actual={
            "destination": one.to,
            "protocol": one.protocol,
            "name": one.name,
            "count": one.count,
            "at_ms": one.at_ms,
            "processes": [{"pid": process.pid, "name": process.name} for process in one.chain],
        },
    )


def _destination(one: Violation) -> str:
    name = f" ({one.name})" if one.name else ""
    return f"{one.to}{name}" if one.kind in ("name", "unix") else f"{one.to}{name} over {one.protocol}"


def _times(count: int) -> str:
    return f", {count} times" if count > 1 else ""


def _how(event: FileEvent) -> str:
    return f"{event.call} [{event.flags}]" if event.flags else event.call


def _device(path: str) -> bool:
    """A terminal or another device: opening it writes no file. Shared memory under /dev does."""
    return path.startswith("/dev/") and not path.startswith("/dev/shm/")


def _glob(pattern: str, cwd: str) -> re.Pattern[str]:
    full = pattern if pattern.startswith("/") else f"{cwd.rstrip('/')}/{pattern}"
    return re.compile(_translated(full))


def _translated(pattern: str) -> str:
    """`**` for any folders, `*` and `?` within one name."""
    parts = []
    for part in re.split(r"(\*\*/?|\*|\?)", pattern):
        match part:
            case "**/":
                parts.append("(?:.*/)?")
            case "**":
                parts.append(".*")
            case "*":
                parts.append("[^/]*")
            case "?":
                parts.append("[^/]")
            case _:
                parts.append(re.escape(part))
    return "".join(parts)
