"""Lanes to JSON and back: `mcp.<name>` of a cassette."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields
from typing import cast

from flowproof_addons.errors import FlowproofError
from flowproof_addons.mcp.lane import Call, Frame, Lane, Listing, Note
from flowproof_addons.trace.model import JsonValue


class LaneFileError(FlowproofError):
    """A recorded lane cannot be read."""


type _Record = Lane | Call | Frame | Listing | Note

_NESTED: Mapping[str, type[_Record]] = {
    "calls": Call,
    "catalogue": Listing,
    "pushes": Frame,
    "frames": Frame,
    "notes": Note,
}
_KINDS: Mapping[str, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "bool": (bool,),
    "int | None": (int, type(None)),
    "Message": (dict,),
    "Message | None": (dict, type(None)),
    "Mapping[str, JsonValue]": (dict,),
}


def dump(lane: Lane) -> dict[str, JsonValue]:
    """The lane as JSON; what is at its default is left out."""
    return _dump(lane)


def load(name: str, value: JsonValue) -> Lane:
    """The lane in its JSON form.

    Raises LaneFileError if it is not one.
    """
    return _load(Lane, value, f"mcp.{name}")


def _dump(record: _Record) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {}
    for item in fields(record):
        value = getattr(record, item.name)
        if value != item.default:
            found[item.name] = [_plain(v) for v in value] if isinstance(value, tuple) else value
    return found


def _plain(value: _Record | str) -> JsonValue:
    return value if isinstance(value, str) else _dump(value)


def _load[R: _Record](kind: type[R], value: JsonValue, where: str) -> R:
    known = {item.name: item for item in fields(kind)}
    if not isinstance(value, dict):
        raise _error(where, "an object is expected here")
    for name in value:
        if name not in known:
            raise _error(f"{where}.{name}", "not known to this version")
    for name, item in known.items():
        if name not in value and item.default is MISSING and item.default_factory is MISSING:
            raise _error(where, f"{name!r} is missing")
    made = {name: _value(known[name], item, f"{where}.{name}") for name, item in value.items()}
    return cast(Callable[..., R], kind)(**made)


def _value(item: Field[object], value: JsonValue, where: str) -> object:
    if item.name in _NESTED or item.name == "remarks":
        if not isinstance(value, list):
            raise _error(where, "a list is expected here")
        kind = _NESTED.get(item.name)
        return tuple(value if kind is None else (_load(kind, v, f"{where}[{n}]") for n, v in enumerate(value)))
    accepted = _KINDS.get(str(item.type), (str,))
    if not isinstance(value, accepted):
        raise _error(where, f"{item.type} is expected here")
    return value


def _error(where: str, what: str) -> LaneFileError:
    return LaneFileError(f"{where}: {what}; the cassette was edited or written by another version: record again")
