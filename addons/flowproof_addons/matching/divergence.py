"""The report on a request that no recording answers: what differs, where, of what kind, and what to do."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from flowproof_addons.matching import advice
from flowproof_addons.matching.difference import Difference
from flowproof_addons.matching.excerpt import Excerpt
from flowproof_addons.trace.model import JsonValue

type Why = Literal["changed", "already served", "another user turn", "nothing recorded"]

_WHY: Mapping[str, Why] = {
    "changed": "changed",
    "already served": "already served",
    "another user turn": "another user turn",
}

CLIENT = "client version changed"
"""Begins the line that explains all others: a new client brings new prompts."""

SYSTEM = "system prompt changed"
"""The one line of an envelope that says less than the difference it stems from."""


@dataclass(frozen=True, slots=True)
class Divergence:
    """A request that no recording answers. Holds no secret: it is made from hidden values."""

    why: Why
    request: str
    """`POST /v1/messages`."""
    turn: int | None
    """Number of this model turn in the run, from 1; None for a side call."""
    nearest: int | None = None
    """The recording it is compared with: index in `Trace.exchanges`."""
    nearest_name: str = ""
    """`recorded turn 2`."""
    client: tuple[str, ...] = ()
    """What is known of another client: `client changed: claude-cli/2.1.197 -> claude-cli/2.1.332`."""
    envelope: tuple[str, ...] = ()
    """What differs at large: dialect, path, model, tools, items of the conversation."""
    differences: tuple[Difference, ...] = ()
    """The first few."""
    more: int = 0
    """How many further differences there are."""
    notes: tuple[str, ...] = ()
    """What else explains it: a pin that did not hold, a body that is no JSON."""
    pin: tuple[str, ...] = ()
    """Lines for the spec that would allow the first difference."""
    user_turn: int | None = None
    """In a conversation: which user turn the agent was at."""

    @property
    def headline(self) -> str:
        """The whole thing in one line."""
        where = f"turn {self.turn}" if self.turn is not None else f"side call {self.request}"
        where = where if self.user_turn is None else f"user turn {self.user_turn}, {where}"
        if self.why == "already served":
            return f"{where}: the same request was answered already by {self.nearest_name}, which is used up"
        if self.why == "another user turn":
            return f"{where}: this request is {self.nearest_name}, and not for now"
        if self.why == "nothing recorded":
            return f"{where}: nothing is recorded for {self.request}"
        said = [*self.envelope[:1], *(_said(first) for first in self.differences[:1])]
        if self.envelope and self.envelope[0] != SYSTEM:
            said = said[:1]
        client = [line for line in self.client[:1] if line.startswith(CLIENT)]
        return f"{where}: {'; '.join([*client, ': '.join(said) or 'the request is not the recorded one'])}"

    @property
    def cause(self) -> str:
        """Equal for divergences that have one cause, in whatever turn or flow: how a summary groups them."""
        first = self.differences[:1]
        parts: list[str] = [self.why, *self.client, *self.envelope]
        for difference in first:
            parts += [_anywhere(difference.path), difference.kind, _part(difference.recorded), _part(difference.sent)]
        if self.why != "changed":
            parts.append(self.request)
        return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:16]

    def lines(self) -> list[str]:
        """The report as plain text, headline first."""
        return [self.headline, *self.detail()]

    def detail(self) -> list[str]:
        """The report below its headline."""
        return list(_detail(self))

    def to_json(self) -> dict[str, JsonValue]:
        """The report as it stands in traces and events; `from_json` reads it back."""
        first = self.differences[0] if self.differences else None
        return {
            "message": self.headline,
            "detail": "\n".join(self.detail()),
            "path": first.path if first else "",
            "recorded": first.recorded.text if first and first.recorded else None,
            "received": first.sent.text if first and first.sent else None,
            "cause": self.cause,
            "why": self.why,
            "request": self.request,
            "turn": self.turn,
            "nearest": self.nearest,
            "nearest_name": self.nearest_name,
            "client": list(self.client),
            "envelope": list(self.envelope),
            "differences": [_difference(difference) for difference in self.differences],
            "more": self.more,
            "notes": list(self.notes),
            "pin": list(self.pin),
            **({} if self.user_turn is None else {"user_turn": self.user_turn}),
        }

    @classmethod
    def from_json(cls, report: Mapping[str, JsonValue]) -> Divergence:
        """The divergence that `to_json` wrote."""
        why, turn, nearest, more = (report.get(key) for key in ("why", "turn", "nearest", "more"))
        user_turn = report.get("user_turn")
        found = report.get("differences")
        return cls(
            why=_WHY.get(str(why), "nothing recorded"),
            request=str(report.get("request", "")),
            turn=turn if isinstance(turn, int) else None,
            nearest=nearest if isinstance(nearest, int) else None,
            nearest_name=str(report.get("nearest_name", "")),
            client=_texts(report.get("client")),
            envelope=_texts(report.get("envelope")),
            differences=tuple(_read(item) for item in found if isinstance(item, dict))
            if isinstance(found, list)
            else (),
            more=more if isinstance(more, int) else 0,
            notes=_texts(report.get("notes")),
            pin=_texts(report.get("pin")),
            user_turn=user_turn if isinstance(user_turn, int) else None,
        )


def _said(difference: Difference) -> str:
    match difference.kind:
        case "added" | "new item":
            return f"{difference.path} is new: {_text(difference.sent)}"
        case "missing" | "missing item":
            return f"{difference.path} is missing: {_text(difference.recorded)}"
        case "cache_control added" | "cache_control removed":
            place = difference.path.removesuffix(".cache_control")
            return f"{difference.kind.replace(' ', ' was ', 1)} at {place}"
        case _:
            return f"{difference.path} differs ({difference.kind})"


def _detail(report: Divergence) -> Iterator[str]:
    if report.why == "already served":
        yield "  Each recording answers once, and the agent sent this again: look for a loop, a retry, or a lost reply."
        return
    if report.why == "another user turn":
        yield "  What is recorded of one user turn answers nothing in another: the agent is behind its user, or ahead."
        return
    if report.why == "nothing recorded":
        yield "  The cassette holds no request like it; if it is meant, record the flow again."
        return
    yield f"  compared with {report.nearest_name}, the nearest to {report.request}"
    yield from (f"  {line}" for line in (*report.client, *report.envelope))
    for difference in report.differences:
        if difference.path == "model" and any(line.startswith("model changed") for line in report.envelope):
            continue
        yield f"  {_said(difference)}"
        if difference.kind not in ("added", "new item", "missing", "missing item"):
            yield from _compared(difference)
    if report.more:
        yield f"  and {report.more} more"
    hints = (advice.hint(difference) for difference in report.differences)
    yield from (f"  note: {hint}" for hint in dict.fromkeys([*report.notes, *hints]) if hint)
    if report.pin:
        yield "  If this may differ from run to run, pin it in the spec:"
        yield from (f"    {line}" for line in report.pin)
    yield "  If the change is meant, record the flow again; if not, the agent has changed."


def _compared(difference: Difference) -> Iterator[str]:
    under = difference.sent if difference.sent and difference.sent.start < difference.sent.end else difference.recorded
    for name, side in (("recorded", difference.recorded), ("sent", difference.sent)):
        if side is None:
            continue
        yield f"    {name + ':':<9} {side.text}"
        if side is under and side.start < side.end:
            yield " " * (14 + side.start) + "^" * (side.end - side.start)


def _text(side: Excerpt | None) -> str:
    return side.text if side else ""


def _part(side: Excerpt | None) -> str:
    """What differs, without what happens to stand around it."""
    if side is None:
        return ""
    return side.text[side.start : side.end] if side.end else side.text


def _anywhere(path: str) -> str:
    return re.sub(r"\[\d+\]", "[*]", path)


def _difference(difference: Difference) -> JsonValue:
    return {
        "path": difference.path,
        "kind": difference.kind,
        "recorded": _excerpt(difference.recorded),
        "sent": _excerpt(difference.sent),
    }


def _excerpt(side: Excerpt | None) -> JsonValue:
    return None if side is None else [side.text, side.start, side.end]


def _read(item: Mapping[str, JsonValue]) -> Difference:
    return Difference(
        str(item.get("path", "")),
        str(item.get("kind", "")),
        _read_excerpt(item.get("recorded")),
        _read_excerpt(item.get("sent")),
    )


def _read_excerpt(value: JsonValue) -> Excerpt | None:
    match value:
        case [str(text), int(start), int(end)]:
            return Excerpt(text, start, end)
        case _:
            return None


def _texts(value: JsonValue) -> tuple[str, ...]:
    return tuple(str(item) for item in value) if isinstance(value, list) else ()
