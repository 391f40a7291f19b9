"""How a server's surface changed, and what each change can do to an agent.

breaking    a call that was right is wrong now: a tool, prompt or argument gone, a type changed, something required
prompt      words the model reads changed: it may decide otherwise
behaviour   annotations changed: clients go by them in what they run in parallel or ask about
result      what comes back has another shape
compatible  nothing that was right is wrong: something new, something no longer required
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from flowproof_addons.trace import json_value
from flowproof_addons.trace.model import JsonValue
from flowproof_runner.surface.canonical import canonical_schema
from flowproof_runner.surface.surface import Surface


class Kind(StrEnum):
    """What a change can do."""

    BREAKING = "breaking"
    PROMPT = "prompt"
    BEHAVIOUR = "behaviour"
    RESULT = "result"
    COMPATIBLE = "compatible"


@dataclass(frozen=True, slots=True)
class Change:
    """One change of a surface."""

    kind: Kind
    where: str
    """`tool read`, `tool read, argument path`, `capabilities`."""
    what: str

    def __str__(self) -> str:
        return f"{self.kind:<10} {self.where}: {self.what}"


type _Compare = Callable[[str, Mapping[str, JsonValue], Mapping[str, JsonValue]], Iterator[Change]]

_WORDS = ("title", "description")
_JUDGED = frozenset({"name", *_WORDS, "inputSchema", "outputSchema", "annotations"})


def drift(before: Surface, after: Surface) -> tuple[Change, ...]:
    """All changes, the worst kind first; what a snapshot does not hold is not compared."""
    changes = [
        *tool_drift(before.tools, after.tools),
        *_named("prompt", "name", before.prompts, after.prompts, _prompt),
        *_named("resource", "uri", before.resources, after.resources, _resource),
        *_named("template", "uriTemplate", before.resource_templates, after.resource_templates, _resource),
    ]
    for old, new in ((before.capabilities, after.capabilities), (before.discovered, after.discovered)):
        changes += capability_drift(old, new) if old is not None else ()
    if before.server is not None and before.instructions != after.instructions:
        changes.append(Change(Kind.PROMPT, "instructions", "other words"))
    order = list(Kind)
    return tuple(sorted(changes, key=lambda change: order.index(change.kind)))


def tool_drift(before: Sequence[JsonValue], after: Sequence[JsonValue]) -> Iterator[Change]:
    """The changes of a list of tools."""
    return _named("tool", "name", before, after, _tool)


def _named(
    kind: str, key: str, before: Sequence[JsonValue], after: Sequence[JsonValue], compare: _Compare
) -> Iterator[Change]:
    old, new = _by(key, before), _by(key, after)
    for name in sorted(old.keys() - new.keys()):
        yield Change(Kind.BREAKING, f"{kind} {name}", "is gone")
    for name in sorted(new.keys() - old.keys()):
        yield Change(Kind.COMPATIBLE, f"{kind} {name}", "is new")
    for name in sorted(old.keys() & new.keys()):
        yield from compare(f"{kind} {name}", old[name], new[name])


def _tool(where: str, before: Mapping[str, JsonValue], after: Mapping[str, JsonValue]) -> Iterator[Change]:
    yield from _words(where, before, after)
    yield from _schema(where, before.get("inputSchema"), after.get("inputSchema"))
    if not json_value.same(before.get("annotations"), after.get("annotations")):
        yield Change(
            Kind.BEHAVIOUR, where, f"annotations {_differ(before.get('annotations'), after.get('annotations'))}"
        )
    if not json_value.same(canonical_schema(before.get("outputSchema")), canonical_schema(after.get("outputSchema"))):
        yield Change(Kind.RESULT, where, "another output schema")
    for name in sorted((before.keys() | after.keys()) - _JUDGED):
        if not json_value.same(before.get(name), after.get(name)):
            yield Change(Kind.COMPATIBLE, where, f"another {name}")


def _schema(where: str, before: JsonValue, after: JsonValue) -> Iterator[Change]:
    """The arguments; what is not about single arguments is taken as breaking, for want of a proof that it is not."""
    old, new = _object(canonical_schema(before)), _object(canonical_schema(after))
    old_args, new_args = _object(old.get("properties")), _object(new.get("properties"))
    was, now = _names(old.get("required")), _names(new.get("required"))
    for name in sorted(old_args.keys() - new_args.keys()):
        yield Change(Kind.BREAKING, f"{where}, argument {name}", "is gone")
    for name in sorted(new_args.keys() - old_args.keys()):
        kind, what = (Kind.BREAKING, "is new and required") if name in now else (Kind.COMPATIBLE, "is new, optional")
        yield Change(kind, f"{where}, argument {name}", what)
    for name in sorted(old_args.keys() & new_args.keys()):
        place = f"{where}, argument {name}"
        yield from _argument(place, _object(old_args[name]), _object(new_args[name]))
        if name in now - was:
            yield Change(Kind.BREAKING, place, "is required now")
        if name in was - now:
            yield Change(Kind.COMPATIBLE, place, "is no longer required")
    if not json_value.same(_rest(old), _rest(new)):
        yield Change(Kind.BREAKING, where, "another input schema")


def _argument(where: str, before: Mapping[str, JsonValue], after: Mapping[str, JsonValue]) -> Iterator[Change]:
    yield from _words(where, before, after)
    old, new = _wordless(before), _wordless(after)
    if json_value.same(old, new):
        return
    if json_value.same({**old, "enum": None}, {**new, "enum": None}) and _wider(old.get("enum"), new.get("enum")):
        yield Change(Kind.COMPATIBLE, where, "accepts more values")
    else:
        yield Change(Kind.BREAKING, where, f"{_differ(old, new)}")


def _prompt(where: str, before: Mapping[str, JsonValue], after: Mapping[str, JsonValue]) -> Iterator[Change]:
    yield from _words(where, before, after)
    old, new = _by("name", _list(before.get("arguments"))), _by("name", _list(after.get("arguments")))
    for name in sorted(old.keys() - new.keys()):
        yield Change(Kind.BREAKING, f"{where}, argument {name}", "is gone")
    for name in sorted(new.keys() - old.keys()):
        required = new[name].get("required") is True
        kind, what = (Kind.BREAKING, "is new and required") if required else (Kind.COMPATIBLE, "is new, optional")
        yield Change(kind, f"{where}, argument {name}", what)


def _resource(where: str, before: Mapping[str, JsonValue], after: Mapping[str, JsonValue]) -> Iterator[Change]:
    yield from _words(where, before, after)
    if before.get("mimeType") != after.get("mimeType"):
        yield Change(Kind.RESULT, where, f"{before.get('mimeType')} is {after.get('mimeType')} now")


def capability_drift(before: JsonValue, after: JsonValue) -> Iterator[Change]:
    """The changes of what a server says it can do."""
    old, new = _object(before), _object(after)
    for name in sorted(old.keys() - new.keys()):
        yield Change(Kind.BREAKING, f"capability {name}", "is gone")
    for name in sorted(new.keys() - old.keys()):
        yield Change(Kind.COMPATIBLE, f"capability {name}", "is new")
    for name in sorted(old.keys() & new.keys()):
        if not json_value.same(old[name], new[name]):
            yield Change(Kind.BEHAVIOUR, f"capability {name}", _differ(old[name], new[name]))


def _words(where: str, before: Mapping[str, JsonValue], after: Mapping[str, JsonValue]) -> Iterator[Change]:
    for name in _WORDS:
        if before.get(name) != after.get(name):
            yield Change(Kind.PROMPT, where, f"another {name}")


def _differ(before: JsonValue, after: JsonValue) -> str:
    return f"{json_value.compact(before)} -> {json_value.compact(after)}"


def _wider(before: JsonValue, after: JsonValue) -> bool:
    if not isinstance(before, list):
        return False
    return after is None or (isinstance(after, list) and all(value in after for value in before))


def _wordless(schema: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    return {name: value for name, value in schema.items() if name not in _WORDS}


def _rest(schema: Mapping[str, JsonValue]) -> JsonValue:
    return {n: v for n, v in schema.items() if n not in (*_WORDS, "properties", "required", "$schema")}


def _by(key: str, items: Sequence[JsonValue]) -> dict[str, Mapping[str, JsonValue]]:
    return {str(item.get(key)): item for item in items if isinstance(item, dict)}


def _names(value: JsonValue) -> set[str]:
    return {name for name in value if isinstance(name, str)} if isinstance(value, list) else set()


def _object(value: JsonValue) -> dict[str, JsonValue]:
    return value if isinstance(value, dict) else {}


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []
