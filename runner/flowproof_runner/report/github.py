"""What GitHub shows beside the code and on the run's page.

https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands (read 2026-12-02)
"""

from __future__ import annotations

import posixpath
from collections.abc import Hashable, Iterator

from flowproof_runner.report import causes, words
from flowproof_runner.result import FindingResult, FlowResult, RunResult, SharedCause

_WORDS = {"pass": "✅ pass", "fail": "❌ fail", "error": "💥 error", "skip": "⏭️ skip"}


def commands(run: RunResult, prefix: str = "") -> str:
    """One `::error` command per cause: GitHub shows ten of a step and leaves out the rest.

    `prefix` is the working directory as seen from the repository's root.
    """
    return "".join(f"{_error(flow, found, prefix)}\n" for flow, found in _firsts(run))


def step_summary(run: RunResult) -> str:
    """Markdown for the run's page: a table of flows, and each failure in full."""
    return "\n".join(_summary(run)) + "\n"


def _firsts(run: RunResult) -> Iterator[tuple[FlowResult, FindingResult]]:
    """Each cause once, where it first appears; a flow's own findings all stay."""
    seen: dict[Hashable, str] = {}
    for flow in run.flows:
        for found in causes.roots(flow):
            if seen.setdefault(causes.identity(found), flow.spec) == flow.spec:
                yield flow, found


def _error(flow: FlowResult, found: FindingResult, prefix: str) -> str:
    file, line = _place(found.where or flow.spec)
    properties = {"file": posixpath.normpath(posixpath.join(prefix, file)), "line": line, "title": words.title(flow)}
    told = ",".join(f"{name}={_property(value)}" for name, value in properties.items() if value)
    return f"::error {told}::{_data(found.message + (chr(10) + found.detail if found.detail else ''))}"


def _place(where: str) -> tuple[str, str]:
    """`file:line` (or `file:line:column`) -> its file and line; the line is empty where there is none."""
    file, _, rest = where.partition(":")
    line = rest.partition(":")[0]
    return file, line if line.isdigit() else ""


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _summary(run: RunResult) -> Iterator[str]:
    yield f"### flowproof {run.command}: {_WORDS[run.verdict]}"
    yield ""
    yield "| verdict | flow | turns | time | containment |"
    yield "|---|---|---|---|---|"
    for flow in run.flows:
        cells = (
            _WORDS[flow.verdict],
            words.title(flow),
            words.turns(flow.counts),
            words.seconds(flow.duration_s),
            flow.containment,
        )
        yield f"| {' | '.join(_cell(cell) for cell in cells)} |"
    for cause in run.causes:
        yield from _shared(cause)
    for flow, found in _firsts(run):
        yield from _details(flow, found)


def _shared(cause: SharedCause) -> Iterator[str]:
    yield ""
    yield f"**One cause in {len(cause.specs)} flows:** {_html(cause.message)}"
    yield ""
    yield from (f"- {_html(spec)}" for spec in cause.specs)
    if accept := words.accept(cause):
        yield ""
        yield _html(accept)


def _details(flow: FlowResult, found: FindingResult) -> Iterator[str]:
    yield ""
    yield f"<details><summary>{_html(words.title(flow))}: {_html(found.message)}</summary>"
    yield ""
    where = [f"at {found.where}"] if found.where else []
    yield from (f"    {line}" for line in (*where, *found.detail.split("\n")) if line)
    yield ""
    yield "</details>"


def _cell(text: str) -> str:
    return _html(text).replace("|", "\\|").replace("\n", " ")


def _html(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\n", " ")
