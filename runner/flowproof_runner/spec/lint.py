"""What is wrong with a spec although each of its parts is right: contradictions, and flows that could not fail."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from flowproof_addons.trace.redact import SHORTEST
from flowproof_runner.expectations.ast import CallAssertion, Step
from flowproof_runner.reading.document import Document
from flowproof_runner.reading.problems import Complaint, Loc, Problem
from flowproof_runner.reading.scalars import Node
from flowproof_runner.spec import variables
from flowproof_runner.spec.model import Spec

ASSERTIONS = (
    "assert_tool_call, assert_no_tool_call, assert_tool_request, assert_no_tool_request, assert, "
    "assert_no_egress, assert_no_secret_leak"
)


def empty(root: Node) -> Iterator[Complaint]:
    """Complaints about a flow that has no task or nothing to check. Reads the raw document, so it is always said."""
    if not isinstance(root, dict):
        return
    steps, turns = root.get("steps", []), root.get("conversation", [])
    if not isinstance(steps, list) or not isinstance(turns, list):
        return
    if "steps" not in root and not turns:
        yield Complaint("required key 'steps' is missing")
        return
    keys = [key for step in steps for key in ([step] if isinstance(step, str) else _keys(step))]
    at: Loc = ("steps",) if "steps" in root else ("conversation",)
    if turns and "prompt" in keys:
        yield Complaint("a prompt does not go with conversation, whose user turns are the task", ("steps",))
    elif not turns and "prompt" not in keys:
        yield Complaint("no prompt: the agent would be given no task", at)
    for name in sorted({"stdin", "quiet"} & set(_keys(root.get("agent", {}))) if not turns else ()):
        yield Complaint("is about the user turns of a conversation, and there is none", ("agent", name))
    keys += [key for turn in turns for key in _keys(turn)]
    expected = root.get("expect")
    contract = isinstance(expected, dict) and any(part for name, part in expected.items() if name != "strict")
    if not contract and not any(key.startswith("assert") for key in keys):
        yield Complaint(f"nothing is asserted: the flow could not fail; accepted: {ASSERTIONS}", at)


def _keys(step: Node) -> list[str]:
    return list(step) if isinstance(step, dict) else []


def cut(document: Document) -> Iterator[Problem]:
    """Problems with steps whose text YAML silently cuts at a `#`."""
    for loc, comment in document.comments.items():
        if loc[:1] in (("steps",), ("conversation",)):
            said = f"YAML reads {comment!r} as a comment; put the text in quotes, or a blank behind the #"
            yield document.problem(loc, Complaint(said))


def contradictions(spec: Spec) -> Iterator[Complaint]:
    """Complaints about parts of a spec that cannot both be meant."""
    yield from _twice("tools", [tool.name for tool in spec.tools])
    yield from _twice("mcp", [server.name.lower().replace("-", "_") for server in spec.mcp])
    for number, server in enumerate(spec.mcp):
        yield from _twice(("mcp", number, "tools"), [tool.name for tool in server.tools])
    yield from _mocked_twice(spec)
    steps = list(_placed(spec))
    yield from _opposed(steps)
    yield from _unobservable(steps, spec)
    yield from _unsaid(spec)
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


class _Placed(NamedTuple):
    """A step, where it stands, and the user turn it judges (None: all of the run)."""

    step: Step
    at: Loc
    user_turn: int | None = None


def _placed(spec: Spec) -> Iterator[_Placed]:
    """Every step in the order in which steps are numbered."""
    for number, turn in enumerate(spec.conversation):
        yield from (_Placed(step, ("conversation", number, *loc), number + 1) for loc, step in turn.steps)
    yield from (_Placed(entry.step, ("steps", number)) for number, entry in enumerate(spec.steps))


def _opposed(steps: Sequence[_Placed]) -> Iterator[Complaint]:
    """An unconditional "never" beside a "must" for the same tool: no run can pass."""
    opposite = {"no_call": "call", "no_request": "request"}
    for never, at, within in steps:
        if not isinstance(never, CallAssertion) or never.kind not in opposite or never.clauses:
            continue
        for number, (must, _, user_turn) in enumerate(steps, start=1):
            together = within is None or within == user_turn
            demanded = isinstance(must, CallAssertion) and must.kind == opposite[never.kind]
            if together and demanded and isinstance(must, CallAssertion) and must.tool == never.tool:
                yield Complaint(f"contradicts step {number}, which demands {must.tool!r}", at)


def _unobservable(steps: Sequence[_Placed], spec: Spec) -> Iterator[Complaint]:
    for step, at, _ in steps:
        if isinstance(step, CallAssertion) and step.at == "mcp" and not spec.mcp:
            yield Complaint("at: mcp needs a server under mcp, none is declared", at)
        if isinstance(step, CallAssertion) and step.times and step.kind.startswith("no_"):
            yield Complaint("times does not go with a step that says never", at)
        if isinstance(step, CallAssertion) and step.at and step.kind.endswith("request"):
            yield Complaint("at does not go with a request, which is always the model's", at)


def _unsaid(spec: Spec) -> Iterator[Complaint]:
    """Complaints about a conversation that this agent cannot be led through."""
    agent = spec.agent
    if spec.conversation and agent.driver == "adapter":
        said = "does not go with agent.adapter, which is given one task; accepted with agent.command and agent.url"
        yield Complaint(said, ("conversation",))
    for number, turn in enumerate(spec.conversation if agent.stdin == "text" else ()):
        if "\n" in turn.user.rstrip("\n"):
            said = "has several lines, and with agent.stdin: text a user turn is one; accepted: one line, or stdin: all"
            yield Complaint(said, ("conversation", number, "user"))


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
    for number, fault in enumerate(spec.faults if spec.agent.responses_websocket else ()):
        if fault.turn is not None:
            said = "does not go with agent.responses_websocket: turns over a WebSocket meet no faults"
            yield Complaint(said, ("faults", number, "turn"))
    seen: dict[str, int] = {}
    for number, fault in enumerate(spec.faults):
        if fault.mcp is not None and fault.mcp not in servers:
            known = ", ".join(servers) or "none is declared"
            yield Complaint(f"{fault.mcp!r} is no server under mcp; declared: {known}", ("faults", number, "mcp"))
        if fault.label in seen:
            said = f"says the same as entry {seen[fault.label] + 1}; give that one times"
            yield Complaint(said, ("faults", number))
        seen.setdefault(fault.label, number)
