"""What a lane tells besides calls: the catalogue the server showed, and what somebody was asked during a call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from flowproof_addons.mcp.lane import Call, Lane, Listing
from flowproof_addons.trace.model import JsonValue
from flowproof_runner.evidence.build import Placed
from flowproof_runner.evidence.model import Confirmed, Discovered

_ELICITATION = "elicitation/create"
_DISCOVER = "server/discover"


def discovered(name: str, lane: Lane) -> Iterator[Placed]:
    """The catalogue as it was before the first call, pages merged; nothing if no client asked for it."""
    first = [listing for listing in lane.catalogue if listing.method == "tools/list" and not listing.after]
    listings = first or [listing for listing in lane.catalogue if listing.method == "tools/list"][:1]
    if not listings:
        return
    openings = (each for each in lane.catalogue if each.method in ("initialize", _DISCOVER))
    opening = next((each for each in openings if "capabilities" in _result(each)), None)
    event = Discovered(
        seq=0,
        lane=name,
        capabilities=_result(opening).get("capabilities") if opening is not None else {},
        tools=tuple(_merged(listings)),
        modern=opening is not None and opening.method == _DISCOVER,
    )
    yield Placed(0, -1, event)


def confirmed(name: str, call: Call, identity: str) -> Iterator[Placed]:
    """The answers a person gave while the call was handled; they are about that call and its arguments."""
    for tick, result in _elicited(call):
        granted = result.get("action") == "accept"
        event = Confirmed(
            seq=0,
            lane=name,
            turn=call.turns,
            call=identity,
            tool=str(call.params.get("name", "")),
            arguments=call.params.get("arguments") or {},
            granted=granted,
            id="elicitation",
        )
        yield Placed(call.turns, tick, event)


def _elicited(call: Call) -> Iterator[tuple[int, Mapping[str, JsonValue]]]:
    """When and what was answered: to a request during the call, or (since 2026) in the call that was sent again."""
    for frame in call.frames:
        if frame.message.get("method") == _ELICITATION and frame.answer is not None:
            result = frame.answer.get("result")
            yield frame.answered or frame.at, result if isinstance(result, dict) else {}
    responses = call.params.get("inputResponses")
    for response in responses.values() if isinstance(responses, dict) else ():
        if isinstance(response, dict) and "action" in response:
            yield call.opened, response


def _merged(listings: list[Listing]) -> Iterator[JsonValue]:
    """Every tool of every page once: clients ask for the same page again and again."""
    seen: set[str] = set()
    for listing in listings:
        page = str(listing.params.get("cursor", ""))
        tools = _result(listing).get("tools")
        if page not in seen and isinstance(tools, list):
            yield from tools
        seen.add(page)


def _result(listing: Listing) -> Mapping[str, JsonValue]:
    result = listing.outcome.get("result")
    return result if isinstance(result, dict) else {}
