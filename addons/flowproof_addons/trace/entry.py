"""One exchange as it stands in a cassette or journal: what repeats an earlier exchange is left out.

A request that continues an earlier one says so (`{"after": 3, "patch": [...]}`) and then whatever else is as it was
there (method, path, query, dialect, headers) is not said again.
"""

from __future__ import annotations

from dataclasses import dataclass

from flowproof_addons.trace import body_form, delta, header_form, reply_form
from flowproof_addons.trace.json_value import size
from flowproof_addons.trace.model import Exchange, Fault, JsonBody, JsonValue, Reply, Request
from flowproof_addons.trace.reply_form import Kept
from flowproof_addons.trace.shape import Node

_MOST_THREADS = 8
_MOST_BYTES = 64 * 1024 * 1024
_KNOWN = frozenset(
    "n user_turn dialect method path query headers sha256 request reply attempts served_from equality rules"
    " divergence fault".split()
)


@dataclass(frozen=True, slots=True)
class _Recent:
    number: int
    exchange: Exchange
    kept: Kept
    size: int


class Writer:
    """Writes exchanges as entries, each against the nearest of the last few conversations."""

    def __init__(self) -> None:
        self._recent: list[_Recent] = []

    def write(self, number: int, exchange: Exchange) -> dict[str, JsonValue]:
        """The entry of an exchange; `number` is its place in the order of arrival, from 1."""
        request = exchange.request
        before, patch, room = self._nearest(request)
        entry: dict[str, JsonValue] = {"n": number}
        if exchange.user_turn is not None:
            entry["user_turn"] = exchange.user_turn
        base = before.exchange if before else None
        entry.update(_head(exchange, base))
        if request.digest:
            entry["sha256"] = request.digest
        entry["request"] = {"after": before.number, "patch": patch} if before else body_form.write(request.body)
        entry["reply"], kept = reply_form.write(exchange.reply, before.kept if before else None)
        entry.update(_outcome(exchange))
        entry.update({key: value for key, value in exchange.extra.items() if key not in _KNOWN})
        self._remember(_Recent(number, exchange, kept, room), before)
        return entry

    def _nearest(self, request: Request) -> tuple[_Recent | None, delta.Patch, int]:
        """The conversation that this request continues at the least cost, the patch, and the size of the request.

        None, when writing it whole costs less than twice the patch.
        """
        body = request.body
        if not isinstance(body, JsonBody) or body.source is not None:
            return None, [], 0
        recents = [recent for recent in reversed(self._recent) if _like(recent, request)]
        if not recents:
            return None, [], size(body.value)
        cost, room, patch, nearest = 0, 0, list[JsonValue](), None
        for recent in recents:
            if nearest is not None and room - recent.size > cost:
                continue  # what it lacks alone costs more than the patch there is
            tried = _patch(recent, body)
            if nearest is None or size(tried) < cost:
                cost, patch, nearest = size(tried), tried, recent
                # Measuring two megabytes for each turn of a long conversation is dear, and one that only grew is known.
                room = recent.size + cost if delta.only_adds(tried) else size(body.value)
        return (nearest, patch, room) if 2 * cost < room else (None, [], size(body.value))

    def _remember(self, latest: _Recent, continued: _Recent | None) -> None:
        body = latest.exchange.request.body
        if not isinstance(body, JsonBody) or body.source is not None:
            return
        kept = [recent for recent in self._recent if recent is not continued][-(_MOST_THREADS - 1) :]
        while kept and sum(recent.size for recent in kept) + latest.size > _MOST_BYTES:
            kept.pop(0)
        self._recent = [*kept, latest]


class Reader:
    """Reads entries back, in the order in which they were written."""

    def __init__(self) -> None:
        self._earlier: dict[int, tuple[Exchange, Kept]] = {}

    def read(self, node: Node) -> tuple[int, Exchange]:
        """The number and the exchange of an entry. Raises ShapeError."""
        number = node.get("n")
        if number.integer() in self._earlier:
            raise number.wrong(f"number {number.integer()} is there already")
        request = node.get("request")
        base: Exchange | None = None
        before: Kept | None = None
        if request.has("after"):
            after = request.get("after")
            if after.integer() not in self._earlier:
                raise after.wrong(f"there is no exchange {after.integer()} before this one")
            base, before = self._earlier[after.integer()]
        kept = reply_form.read(node.get("reply"), before)
        exchange = _exchange(node, request, base, kept.reply)
        self._earlier[number.integer()] = (exchange, kept)
        return number.integer(), exchange


def _like(recent: _Recent, request: Request) -> bool:
    earlier = recent.exchange.request
    return (earlier.method, earlier.path) == (request.method, request.path)


def _patch(recent: _Recent, body: JsonBody) -> delta.Patch:
    earlier = recent.exchange.request.body
    assert isinstance(earlier, JsonBody)
    return delta.difference(earlier.value, body.value)


def _head(exchange: Exchange, base: Exchange | None) -> dict[str, JsonValue]:
    request = exchange.request
    said: dict[str, JsonValue] = {
        "dialect": exchange.dialect,
        "method": request.method,
        "path": request.path,
        "query": request.query,
    }
    known = _said(base) if base else {"dialect": None, "method": "POST", "path": None, "query": ""}
    head = {key: value for key, value in said.items() if value != known[key]}
    headers = header_form.write(request.headers, base.request.headers if base else {})
    return {**head, "headers": headers} if headers else head


def _said(base: Exchange) -> dict[str, JsonValue]:
    request = base.request
    return {"dialect": base.dialect, "method": request.method, "path": request.path, "query": request.query}


def _outcome(exchange: Exchange) -> dict[str, JsonValue]:
    entry: dict[str, JsonValue] = {}
    if exchange.attempts:
        entry["attempts"] = [reply_form.write_attempt(attempt) for attempt in exchange.attempts]
    if exchange.served_from is not None:
        entry["served_from"] = exchange.served_from
    if exchange.equality is not None:
        entry["equality"] = exchange.equality
    if exchange.rules:
        entry["rules"] = list(exchange.rules)
    if exchange.divergence is not None:
        entry["divergence"] = exchange.divergence
    if exchange.fault is not None:
        entry["fault"] = {"turn": exchange.fault.turn, "label": exchange.fault.label}
    return entry


def _exchange(node: Node, request: Node, base: Exchange | None, reply: Reply) -> Exchange:
    members = node.members()
    equality = members.get("equality")
    if equality is not None and equality.value not in ("bytes", "json", "rules"):
        raise equality.wrong("must be bytes, json or rules")
    known = _said(base) if base else {}
    dialect = members["dialect"] if "dialect" in members else Node(known.get("dialect"))
    return Exchange(
        request=_request(members, request, base),
        reply=reply,
        dialect=None if dialect.value is None else dialect.text(),
        attempts=tuple(reply_form.read_attempt(item) for item in members["attempts"].items())
        if "attempts" in members
        else (),
        served_from=members["served_from"].integer() if "served_from" in members else None,
        equality=equality.value if equality is not None else None,  # type: ignore[arg-type]  # checked above
        rules=tuple(item.text() for item in members["rules"].items()) if "rules" in members else (),
        divergence=members["divergence"].value if "divergence" in members else None,
        fault=_fault(members["fault"]) if "fault" in members else None,
        user_turn=members["user_turn"].integer() if "user_turn" in members else None,
        extra={key: member.value for key, member in members.items() if key not in _KNOWN},
    )


def _request(members: dict[str, Node], request: Node, base: Exchange | None) -> Request:
    known = _said(base) if base else {"method": "POST", "query": ""}

    def said(key: str) -> str:
        if key not in members and key not in known:
            raise Node(None, request.path[:-1]).wrong(f"`{key}` is missing")
        return members[key].text() if key in members else str(known[key])

    return Request(
        method=said("method"),
        path=said("path"),
        query=said("query"),
        body=body_form.read(request) if base is None else JsonBody(_patched(request, base)),
        headers=header_form.read(members.get("headers"), base.request.headers if base else {}),
        digest=members["sha256"].text() if "sha256" in members else "",
    )


def _patched(request: Node, base: Exchange) -> JsonValue:
    patch = request.get("patch")
    if not isinstance(base.request.body, JsonBody):
        raise request.get("after").wrong("the exchange it names has no JSON body to patch")
    try:
        return delta.apply(base.request.body.value, patch.value)
    except delta.PatchError as error:
        raise patch.wrong(str(error)) from error


def _fault(node: Node) -> Fault:
    return Fault(node.get("label").text(), node.get("turn").integer())
