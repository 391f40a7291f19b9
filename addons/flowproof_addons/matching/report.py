"""Makes the divergence report: who was meant, what differs at large, and where the two requests part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from flowproof_addons.dialects.base import Dialect, ModelRequest
from flowproof_addons.matching import advice
from flowproof_addons.matching.difference import Difference, differences
from flowproof_addons.matching.divergence import CLIENT, SYSTEM, Divergence
from flowproof_addons.matching.echo import Echo
from flowproof_addons.matching.excerpt import whole
from flowproof_addons.matching.nearest import nearest
from flowproof_addons.matching.rules import Rules
from flowproof_addons.matching.view import View
from flowproof_addons.trace.body import complaint
from flowproof_addons.trace.model import Body, BytesBody, Exchange, JsonBody, JsonValue, MultipartBody, Request

_SHOWN, _LONGEST_SAID = 3, 60


class Reporter:
    """Reports on the divergences of one run."""

    def __init__(self, recordings: Sequence[Exchange], views: Sequence[View], rules: Rules, echo: Echo) -> None:
        self._recordings = recordings
        self._views = views
        self._rules = rules
        self._echo = echo

    def divergence(
        self,
        sent: View,
        dialect: Dialect | None,
        turn: int,
        used: AbstractSet[int],
        served: int | None,
        elsewhere: int | None = None,
    ) -> Divergence:
        """Why no recording answers. `served`: an equal one that is used up; `elsewhere`: one of another user turn."""
        return replace(self._divergence(sent, dialect, turn, used, served, elsewhere), user_turn=sent.user_turn)

    def _divergence(
        self,
        sent: View,
        dialect: Dialect | None,
        turn: int,
        used: AbstractSet[int],
        served: int | None,
        elsewhere: int | None,
    ) -> Divergence:
        request = f"{sent.request.method} {sent.request.path}" + (
            f"?{sent.request.query}" if sent.request.query else ""
        )
        number = turn if dialect is not None else None
        if served is not None:
            return Divergence("already served", request, number, served, self._name(served))
        if elsewhere is not None:
            return Divergence("another user turn", request, number, elsewhere, self._name(elsewhere))
        index = nearest(sent, self._views, used)
        if index is None or (dialect is None and self._views[index].request.path != sent.request.path):
            return Divergence("nothing recorded", request, number)
        recorded = self._views[index]
        pairs = denied(self._rules, recorded, sent, self._echo)
        texts = {text for _, *both in pairs for text in both}
        old, new = recorded.shown(self._echo, texts), sent.shown(self._echo, texts)
        found = tuple(_differences(old, new))
        return Divergence(
            "changed",
            request,
            number,
            index,
            self._name(index),
            tuple(_client(recorded, sent)),
            tuple(
                _envelope(replace(recorded.request, body=old), replace(sent.request, body=new), recorded, sent, dialect)
            ),
            found[:_SHOWN],
            len(found[_SHOWN:]),
            (*_notes(recorded, sent, pairs), *_returned(found[:1], replace(sent.request, body=new), dialect)),
            next((pin for difference in found[:_SHOWN] if (pin := advice.pin(difference))), ()),
        )

    def _name(self, index: int) -> str:
        is_turn = self._recordings[index].is_turn
        number = sum(1 for exchange in self._recordings[: index + 1] if exchange.is_turn == is_turn)
        part = self._views[index].user_turn
        return f"recorded {'turn' if is_turn else 'side call'} {number}" + (f" of user turn {part}" if part else "")


def denied(rules: Rules, recorded: View, sent: View, echo: Echo) -> list[tuple[str, str, str]]:
    """The pairs of texts that a pin holds and does not allow: the pin's name, the recorded text, the sent one."""
    theirs, ours = recorded.spans(echo), sent.spans(echo)
    found: list[tuple[str, str, str]] = []
    for rule, name in enumerate(rules.names):
        pairs = zip((s for s in theirs if s.rule == rule), (s for s in ours if s.rule == rule), strict=False)
        found += ((name, old.text, new.text) for old, new in pairs if not rules.allows(old, new))
    return found


def _envelope(old: Request, new: Request, recorded: View, sent: View, dialect: Dialect | None) -> Iterator[str]:
    for what, was, now in (
        ("dialect", recorded.dialect or "none", sent.dialect or "none"),
        ("method", old.method, new.method),
        ("path", old.path, new.path),
        ("query", old.query, new.query),
    ):
        if was != now:
            yield f"{what} changed: {was or 'none'} -> {now or 'none'}"
    if dialect is not None and recorded.dialect == sent.dialect:
        yield from _asked(dialect.read_request(old), dialect.read_request(new))


def _client(recorded: View, sent: View) -> Iterator[str]:
    """Headers are not compared, but another client explains everything else."""
    old, new = recorded.request.headers, sent.request.headers
    for name in sorted({*old, *new} - {"content-type"}, key=lambda name: (name != "user-agent", name)):
        if old.get(name) != new.get(name):
            what = CLIENT if name == "user-agent" else f"{name} changed"
            yield f"{what}: {old.get(name, 'none')} -> {new.get(name, 'none')}"


def _notes(recorded: View, sent: View, pairs: Sequence[tuple[str, str, str]]) -> Iterator[str]:
    for name, _, text in pairs[:_SHOWN]:
        shown = text if len(text) <= _LONGEST_SAID else text[:_LONGEST_SAID] + "…"
        yield f"pin {name!r} does not allow {shown!r}: a date must be today, a path the run's own directory"
    for side, view in (("recorded", recorded), ("sent", sent)):
        if isinstance(view.request.body, BytesBody):
            trouble = complaint(view.request.body.data, view.request.headers.get("content-type", ""))
            if trouble is not None:
                yield f"the {side} body is not the JSON it claims to be: {trouble}"


def _returned(found: Sequence[Difference], sent: Request, dialect: Dialect | None) -> Iterator[str]:
    """Which tool said what varies: the commonest cause, and one with a better cure than a pin."""
    if dialect is None or not any(advice.pin(difference) for difference in found):
        return
    for result in dialect.read_request(sent).results:
        if any(difference.place[: len(result.path)] == result.path for difference in found):
            tool = result.name or "a tool"
            yield f"{tool} returned this: give its result under `tools:`, and the model is told the same in every run"


def _asked(old: ModelRequest, new: ModelRequest) -> Iterator[str]:
    if old.model != new.model:
        yield f"model changed: {old.model or 'none'} -> {new.model or 'none'}"
    added = [tool for tool in dict.fromkeys(new.tools) if tool not in old.tools]
    removed = [tool for tool in dict.fromkeys(old.tools) if tool not in new.tools]
    if added or removed:
        yield "tools offered changed: " + ", ".join(
            [*(f"+{tool}" for tool in added), *(f"-{tool}" for tool in removed)]
        )
    elif old.tools != new.tools:
        yield "tools are offered in another order"
    if old.system != new.system:
        yield SYSTEM
    if old.roles != new.roles:
        yield f"conversation changed: {_roles(old.roles, new.roles)}"


def _roles(old: tuple[str, ...], new: tuple[str, ...]) -> str:
    head = next(
        (i for i, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), min(len(old), len(new))
    )
    if head == len(old):
        return f"{len(new) - head} more after item {head}: {_few(new[head:])}"
    if head == len(new):
        return f"{len(old) - head} missing after item {head}: {_few(old[head:])}"
    return f"item {head + 1} is {new[head]}, was {old[head]} ({len(old)} items recorded, {len(new)} sent)"


def _few(roles: tuple[str, ...]) -> str:
    return ", ".join(roles[:4]) + (", ..." if len(roles) > 4 else "")


def _differences(recorded: Body, sent: Body) -> Iterator[Difference]:
    match recorded, sent:
        case JsonBody(old), JsonBody(new):
            yield from differences(old, new)
        case MultipartBody(), MultipartBody():
            yield from differences(_parts(recorded), _parts(sent))
        case BytesBody(old), BytesBody(new):
            yield from differences(_text(old), _text(new))
        case _:
            yield Difference("", f"{_kind(recorded)} body against {_kind(sent)} body", None, whole(_kind(sent)))


def _parts(body: MultipartBody) -> JsonValue:
    return [{"headers": {name: value for name, value in part.headers}, "data": _text(part.data)} for part in body.parts]


def _text(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")


def _kind(body: Body) -> str:
    match body:
        case JsonBody():
            return "JSON"
        case MultipartBody():
            return "multipart"
        case BytesBody(data):
            return "other" if data else "empty"
