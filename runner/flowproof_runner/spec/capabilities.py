"""Which parts of the grammar have an engine behind them: a key whose engine is not there is an error, never ignored."""

from __future__ import annotations

from collections.abc import Iterator

from flowproof_runner.reading.document import Document
from flowproof_runner.reading.problems import Complaint, Loc, Problem
from flowproof_runner.reading.scalars import Node, value

SUPPORTED: frozenset[str] = frozenset(
    {
        "adapter",
        "client",
        "clock",
        "command",
        "control",
        "conversation",
        "egress",
        "enforce",
        "expect",
        "faults",
        "home",
        "mcp",
        "output",
        "pins",
        "redact",
        "secret_leak",
        "side_effect",
        "skip_unless_env",
        "strict",
        "tools",
        "url",
        "workspace",
    }
)
"""The capabilities this version has. An engine that lands adds its name here."""

NEEDED_BY: dict[Loc, str] = {
    ("agent", "command"): "command",
    ("agent", "url"): "url",
    ("agent", "adapter"): "adapter",
    ("agent", "allow_egress"): "egress",
    ("agent", "output"): "output",
    ("agent", "home"): "home",
    ("agent", "workspace"): "workspace",
    ("agent", "clock"): "clock",
    ("tools",): "tools",
    ("mcp",): "mcp",
    ("steps", "*", "assert_no_egress"): "egress",
    ("steps", "*", "assert_no_side_effect"): "side_effect",
    ("steps", "*", "assert_no_secret_leak"): "secret_leak",
    ("strict",): "strict",
    ("pins",): "pins",
    ("faults",): "faults",
    ("expect",): "expect",
    ("enforce",): "enforce",
    ("control",): "control",
    ("skip_unless_env",): "skip_unless_env",
    ("redact",): "redact",
    ("client",): "client",
    ("conversation",): "conversation",
}
"""Where in a spec (`*`: any index) a capability is asked for; everything else every version has."""

_NOTHING: tuple[object, ...] = ([], {}, "", "observe", False, None)
"""Values that ask for nothing: what the key means when it is left out."""


def needed(root: Node) -> Iterator[tuple[Loc, str]]:
    """Each capability a spec asks for, with the place that does."""
    for pattern, capability in NEEDED_BY.items():
        for loc, node in _found(root, pattern, ()):
            if value(node) not in _NOTHING or pattern[:1] == ("steps",):
                yield loc, capability


def missing(document: Document, supported: frozenset[str] | None = None) -> list[Problem]:
    """A problem for each part of the spec that nothing here could carry out. None: what this version supports."""
    have = SUPPORTED if supported is None else supported
    return [
        document.problem(loc, Complaint("not supported yet by this version of flowproof; remove it"), at_key=True)
        for loc, capability in needed(document.root)
        if capability not in have
    ]


def _found(node: Node, pattern: Loc, loc: Loc) -> Iterator[tuple[Loc, Node]]:
    if not pattern:
        yield loc, node
    elif pattern[0] == "*":
        for number, inner in enumerate(node if isinstance(node, list) else []):
            yield from _found(inner, pattern[1:], (*loc, number))
    elif isinstance(node, dict) and pattern[0] in node:
        yield from _found(node[str(pattern[0])], pattern[1:], (*loc, pattern[0]))
    elif node == pattern[0] and len(pattern) == 1:  # a step that is one word
        yield loc, node
