"""Secrets out of a lane that is written, and into what is served from one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from flowproof_addons.mcp import message as rpc
from flowproof_addons.mcp.lane import Frame, Lane
from flowproof_addons.mcp.message import Message
from flowproof_addons.trace.model import JsonValue
from flowproof_addons.trace.redact import Redactor


class Veil:
    """Hides and reveals the secrets of one session.

    Members named by `redact.keys` are hidden in calls and results, never in lists: there a member's name is part of
    a tool's schema, and a schema without its properties is no schema.
    """

    def __init__(self, secrets: Mapping[str, str], keys: Sequence[str]) -> None:
        self._calls = Redactor(secrets, keys)
        self._lists = Redactor(secrets)

    def message(self, message: Message) -> Message:
        """A message of the agent as it is compared, and named in reports."""
        return _object((self._lists if rpc.method(message) in rpc.CATALOGUE else self._calls).hide(message))

    def lane(self, lane: Lane) -> Lane:
        """The lane as it may be written."""
        hide = self._calls.hide
        return replace(
            lane,
            calls=tuple(
                replace(
                    call,
                    params=_object(hide(dict(call.params))),
                    outcome=None if call.outcome is None else _object(hide(call.outcome)),
                    frames=tuple(self._frame(frame) for frame in call.frames),
                )
                for call in lane.calls
            ),
            catalogue=tuple(
                replace(
                    listing,
                    params=_object(self._lists.hide(dict(listing.params))),
                    outcome=_object(self._lists.hide(listing.outcome)),
                )
                for listing in lane.catalogue
            ),
            pushes=tuple(self._frame(frame) for frame in lane.pushes),
            remarks=tuple(hide(remark) for remark in lane.remarks),
        )

    def reveal(self, message: Message) -> Message:
        """Something recorded as the agent is served it: today's secrets in place."""
        return _object(self._calls.reveal(message))

    @property
    def hits(self) -> frozenset[str]:
        """Names of the secrets that crossed."""
        return frozenset(self._calls.hits | self._lists.hits)

    def _frame(self, frame: Frame) -> Frame:
        answer = None if frame.answer is None else _object(self._calls.hide(frame.answer))
        return replace(frame, message=_object(self._calls.hide(frame.message)), answer=answer)


def _object(value: JsonValue) -> Message:
    assert isinstance(value, dict)  # hiding and revealing keep the shape
    return value
