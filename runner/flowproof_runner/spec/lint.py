"""What is wrong with a spec although each of its parts is right: contradictions, and flows that could not fail."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from flowproof_addons.trace.redact import SHORTEST
from flowproof_runner.expectations.ast import CallAssertion, Step
from flowproof_runner.spec import variables
from flowproof_runner.spec.document import Document
from flowproof_runner.spec.model import Spec
from flowproof_runner.spec.problems import Complaint, Loc, Problem
from flowproof_runner.spec.scalars import Node

ASSERTIONS = (
    "assert_tool_call, assert_no_tool_call, assert_tool_request, assert_no_tool_request, assert, "
    "assert_no_egress, assert_no_secret_leak"
)


def empty(root: Node) -> Iterator[Complaint]:
    """Complaints about a flow that has no task or nothing to check. Reads the raw document, so it is always said."""
    steps = root.get("steps") if isinstance(root, dict) else None
    if not isinstance(steps, list):
        return
    keys = [key for step in steps for key in ([step] if isinstance(step, str) else _keys(step))]
    if "prompt" not in keys:
        yield Complaint("no prompt: the agent would be given no task", ("steps",))
    expects = isinstance(root, dict) and bool(root.get("expect"))
    if not expects and not any(key.startswith("assert") for key in keys):
        yield Complaint(f"nothing is asserted: the flow could not fail; accepted: {ASSERTIONS}", ("steps",))


def _keys(step: Node) -> list[str]:
    return list(step) if isinstance(step, dict) else []


def cut(document: Document) -> Iterator[Problem]:
    """Problems with steps whose text YAML silently cuts at a `#`."""
    for loc, comment in document.comments.items():
        if loc[:1] == ("steps",):
            said = f"YAML reads {comment!r} as a comment; put the text in quotes, or a blank behind the #"
            yield document.problem(loc, Complaint(said))


def contradictions(spec: Spec) -> Iterator[Complaint]:
    """Complaints about parts of a spec that cannot both be meant."""
    yield from _twice("tools", [tool.name for tool in spec.tools])
    yield from _twice("mcp", [server.name.lower().replace("-", "_") for server in spec.mcp])
    for number, server in enumerate(spec.mcp):
        yield from _twice(("mcp", number, "tools"), [tool.name for tool in server.tools])
    yield from _mocked_twice(spec)
    yield from _opposed([entry.step for entry in spec.steps])
    yield from _unobservable(spec)
    yield from _faults(spec)
    yield from _unhidable(spec)


def _twice(section: str | Loc, names: Iterable[str]) -> Iterator[Complaint]:
    prefix: Loc = (section,) if isinstance(section, str) else section
    seen: dict[str, int] = {}
    for number, name in enumerate(names):
        if name in seen:
            yield Complaint(f"{name!r} is already entry {seen[name] + 1}", (*prefix, number, "name"))
        seen.setdefault(name, number)


def _mocked_twice(spec: Spec) -> Iterator[Complaint]:
    mocked = {tool.name for tool in spec.tools if tool.mocked}
    for number, server in enumerate(spec.mcp):
        for index, tool in enumerate(server.tools):
            if tool.mocked and tool.name in mocked:
                yield Complaint("also has a result under tools; keep one", ("mcp", number, "tools", index, "name"))


def _opposed(steps: list[Step]) -> Iterator[Complaint]:
    """An unconditional "never" beside a "must" for the same tool: no run can pass."""
    opposite = {"no_call": "call", "no_request": "request"}
    for number, never in enumerate(steps):
        if not isinstance(never, CallAssertion) or never.kind not in opposite or never.clauses:
            continue
        for index, must in enumerate(steps):
            if isinstance(must, CallAssertion) and must.kind == opposite[never.kind] and must.tool == never.tool:
                yield Complaint(f"contradicts step {index + 1}, which demands {must.tool!r}", ("steps", number))


def _unobservable(spec: Spec) -> Iterator[Complaint]:
    for number, entry in enumerate(spec.steps):
        step = entry.step
        if isinstance(step, CallAssertion) and step.at == "mcp" and not spec.mcp:
            yield Complaint("at: mcp needs a server under mcp, none is declared", ("steps", number))
        if isinstance(step, CallAssertion) and step.times and step.kind.startswith("no_"):
            yield Complaint("times does not go with a step that says never", ("steps", number))
        if isinstance(step, CallAssertion) and step.at and step.kind.endswith("request"):
            yield Complaint("at does not go with a request, which is always the model's", ("steps", number))


def _unhidable(spec: Spec) -> Iterator[Complaint]:
    for number, text in enumerate(spec.redact.values):
        if len(text) < SHORTEST and not variables.names(text):
            yield Complaint(f"{too_short(text)}; accepted: longer texts, redact.keys", ("redact", "values", number))


def too_short(text: str) -> str:
    """Why a text cannot be hidden; the text itself may be a secret and is not shown."""
    count = f"{len(text)} character{'' if len(text) == 1 else 's'}"
    return f"{count} cannot be hidden, a text is found by accident below {SHORTEST}"


def _faults(spec: Spec) -> Iterator[Complaint]:
    servers = [server.name for server in spec.mcp]
    seen: dict[str, int] = {}
    for number, fault in enumerate(spec.faults):
        if fault.mcp is not None and fault.mcp not in servers:
            known = ", ".join(servers) or "none is declared"
            yield Complaint(f"{fault.mcp!r} is no server under mcp; declared: {known}", ("faults", number, "mcp"))
        if fault.label in seen:
            said = f"says the same as entry {seen[fault.label] + 1}; give that one times"
            yield Complaint(said, ("faults", number))
        seen.setdefault(fault.label, number)
