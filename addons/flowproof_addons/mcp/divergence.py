"""What is said about an MCP request that the recording does not answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from flowproof_addons.mcp import message as rpc
from flowproof_addons.mcp.difference import Difference, differences
from flowproof_addons.mcp.lane import Call, Lane
from flowproof_addons.mcp.message import Message
from flowproof_addons.trace.model import JsonValue

type Reason = Literal["changed", "extra", "early", "catalogue", "era", "answer", "unanswered"]

_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Divergence:
    """One request (or answer) of the agent that is not the recorded one."""

    server: str
    reason: Reason
    message: str
    """One line."""
    position: int | None = None
    """Of the recorded call it was compared with, from 1."""
    differences: tuple[Difference, ...] = ()
    received: JsonValue = None

    def to_json(self) -> dict[str, JsonValue]:
        """As it stands in events, findings and reports."""
        return {
            "lane": self.server,
            "reason": self.reason,
            "message": self.message,
            "position": self.position,
            "differences": [d.to_json() for d in self.differences],
            "received": self.received,
        }


def call(server: str, lane: Lane, place: int | None, message: Message, user_turn: int | None = None) -> Divergence:
    """A call that equals no recording that is left; `place`: the one that was due, None when all are used.

    `user_turn`: where a conversation is; all is then said of the calls recorded there.
    """
    recorded = [call for call in lane.calls if user_turn is None or call.user_turn == user_turn]
    now = "" if user_turn is None else f"user turn {user_turn}, "
    received = _shown(rpc.method(message), rpc.compared(message))
    named = _name(rpc.method(message), rpc.compared(message))
    if place is None:
        words = f"mcp.{server}: {now}{named} was called although all {len(recorded)} recorded calls had been made"
        return Divergence(server, "extra", words, received=received)
    due = lane.calls[place]
    found = tuple(islice(differences(_shown(due.method, due.params), received), _SHOWN))
    if _name(due.method, due.params) != named:
        words = f"mcp.{server}: {now}call {place + 1} was {_name(due.method, due.params)}, now {named}"
    else:
        words = f"mcp.{server}: {now}call {place + 1}, {named}: {found[0]}"
    return Divergence(server, "changed", words, place + 1, found, received)


def early(server: str, lane: Lane, place: int, due: int) -> Divergence:
    """A call recorded later, sent although an earlier one had not been: the agent changed its order."""
    named, waited = (_name(c.method, c.params) for c in (lane.calls[place], lane.calls[due]))
    words = (
        f"mcp.{server}: {named} is recorded as call {place + 1} and was sent before call {due + 1}, {waited}; "
        "the agent changed the order of its calls"
    )
    found = tuple(islice(differences(_call(lane.calls[due]), _call(lane.calls[place])), _SHOWN))
    return Divergence(server, "early", words, due + 1, found, _call(lane.calls[place]))


def catalogue(server: str, lane: Lane, message: Message) -> Divergence:
    """A lifecycle or list request the recording has no answer for."""
    method, version = rpc.method(message), rpc.protocol(message)
    received = _shown(method, rpc.compared(message))
    eras = sorted({k.protocol for k in lane.catalogue if k.method in (method, *rpc.LIFECYCLE) and k.protocol})
    if version and version not in eras:
        words = (
            f"mcp.{server}: the agent's client speaks protocol {version} in {method}; the lane was recorded with "
            f"{', '.join(eras) or 'an older one'}: pin the client, or record again"
        )
        return Divergence(server, "era", words, received=received)
    if not version and any(k.protocol and k.method != "initialize" and "result" in k.outcome for k in lane.catalogue):
        words = f"mcp.{server}: {method} came without a protocol version; the lane was recorded with {', '.join(eras)}"
        return Divergence(server, "era", words, received=received)
    words = f"mcp.{server}: {method} with these parameters was not asked when the lane was recorded"
    return Divergence(server, "catalogue", words, received=received)


def answer(server: str, request: Message, expected: Message, actual: Message) -> Divergence | None:
    """The agent's answer to a server request, against the recorded one; None when they are equal."""
    found = tuple(islice(differences(_answer(expected), _answer(actual)), _SHOWN))
    if not found:
        return None
    words = f"mcp.{server}: the agent answered {rpc.method(request)} differently: {found[0]}"
    return Divergence(server, "answer", words, differences=found, received=actual)


def unanswered(server: str, request: Message) -> Divergence:
    """A server request the agent answered at record and does not answer now."""
    words = f"mcp.{server}: the agent did not answer the server's {rpc.method(request)}, which it did when recorded"
    return Divergence(server, "unanswered", words)


def listed(call_: Call) -> str:
    """A recorded call in a few words, for lists of what was not asked for."""
    arguments = json.dumps(call_.params.get("arguments", {}), ensure_ascii=False)
    return f"{_name(call_.method, call_.params)} {arguments[:120]}"


def _shown(method: str, params: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """A tool call as its tool and arguments, the way a person thinks of it; anything else as method and params."""
    tool = rpc.tool(method, params)
    if not tool:
        return {"method": method, "params": dict(params)}
    return {"tool": tool, **{n: v for n, v in params.items() if n != "name"}}


def _call(call_: Call) -> dict[str, JsonValue]:
    return _shown(call_.method, call_.params)


def _name(method: str, params: Mapping[str, JsonValue]) -> str:
    subject = params.get("name", params.get("uri"))
    return f"{method} {subject}" if isinstance(subject, str) else method


def _answer(outcome: Message) -> JsonValue:
    """What of the agent's answer counts: no `_meta`; of an error only its code, the words are the library's."""
    error, result = outcome.get("error"), outcome.get("result")
    if isinstance(error, dict):
        return {"error": {"code": error.get("code")}}
    return {"result": {n: v for n, v in result.items() if n != "_meta"} if isinstance(result, dict) else result}
