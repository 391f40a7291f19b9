"""What is known of a flow besides its messages, kept where mitmproxy saves it with the flow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from mitmproxy import http

from flowproof_addons.trace.model import JsonValue

_KEY = "flowproof"

type Equality = Literal["bytes", "json", "rules"]
_EQUALITIES: tuple[Equality, ...] = ("bytes", "json", "rules")


@dataclass(frozen=True, slots=True)
class Facts:
    """All of it optional: a flow may be anybody's."""

    dialect: str = ""
    turn: int | None = None
    equality: Equality | None = None
    rules: tuple[str, ...] = ()
    divergence: Mapping[str, JsonValue] | None = None
    server: str = ""
    """The MCP server of a lane."""
    remark: str = ""


def note(flow: http.HTTPFlow, facts: Facts) -> None:
    """Put the facts on the flow."""
    flow.metadata[_KEY] = {
        "dialect": facts.dialect,
        "turn": facts.turn,
        "equality": facts.equality,
        "rules": list(facts.rules),
        "divergence": None if facts.divergence is None else dict(facts.divergence),
        "server": facts.server,
        "remark": facts.remark,
    }


def facts_of(flow: http.HTTPFlow) -> Facts:
    """The facts on a flow; nothing where there are none, or where a file holds something else under our name."""
    noted: JsonValue = flow.metadata.get(_KEY)
    if not isinstance(noted, dict):
        return Facts()
    turn, equality, rules, divergence = (noted.get(k) for k in ("turn", "equality", "rules", "divergence"))
    return Facts(
        dialect=str(noted.get("dialect") or ""),
        turn=turn if isinstance(turn, int) else None,
        equality=next((known for known in _EQUALITIES if known == equality), None),
        rules=tuple(map(str, rules)) if isinstance(rules, list) else (),
        divergence=divergence if isinstance(divergence, dict) else None,
        server=str(noted.get("server") or ""),
        remark=str(noted.get("remark") or ""),
    )
