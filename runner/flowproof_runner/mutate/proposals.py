"""Lines of `expect:` that might have caught a fault, from what the run shows; the most telling first."""

from __future__ import annotations

import json
from collections.abc import Iterator

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.expectations.contract.language.printing import show_path, show_tool
from flowproof_runner.expectations.contract.terms import Step, Wildcard
from flowproof_runner.expectations.contract.values import Key, decoded, is_number, key
from flowproof_runner.mutate.leaves import Path, family, leaves
from flowproof_runner.mutate.mutant import Mutant
from flowproof_runner.mutate.operators import Material
from flowproof_runner.mutate.story import Use

type Line = tuple[str, str]
"""A section of `expect:` and a line under it."""


def proposals(mutant: Mutant, material: Material) -> Iterator[Line]:
    """What to try; whether a line accepts the run as it was and rejects the mutant is for the evaluator to say."""
    use = mutant.use
    match mutant.operator:
        case "drop-call" if use is not None:
            yield "calls", f"{show_tool(use.call.tool)} at least {_times(use, material)}"
        case "duplicate-call" | "extra-call" if use is not None:
            yield from _once(use, material)
        case "reorder" if use is not None:
            yield from _before(use, material)
        case "swap-arg" | "widen-filter" if use is not None:
            yield from _argument(mutant, use, material)
        case "stale-result" if use is not None:
            yield from _answer(use, material)
        case _:
            yield from _reported(mutant, material)


def _alike(use: Use, material: Material) -> list[Use]:
    return [other for other in material.story.uses if other.call.tool == use.call.tool]


def _once(use: Use, material: Material) -> Iterator[Line]:
    tool = show_tool(use.call.tool)
    for path, value in leaves(use.call.arguments):
        if _names(value):
            yield "args", f"{tool} distinct {show_path(path)}"
    yield "calls", f"{tool} at most {_times(use, material)}"


def _times(use: Use, material: Material) -> str:
    count = len(_alike(use, material))
    return "once" if count == 1 else f"{count} times"


def _names(value: JsonValue) -> bool:
    """True for what looks like somebody's or something's own: an id, an address; not a word, a number or a yes."""
    return family(value).startswith(("text ", "address"))


def _before(use: Use, material: Material) -> Iterator[Line]:
    uses = material.story.uses
    second = uses[use.number]
    one, other = show_tool(use.call.tool), show_tool(second.call.tool)
    shared = {show_path(path): key(value) for path, value in leaves(use.call.arguments)}
    for path, value in leaves(second.call.arguments):
        if shared.get(show_path(path)) == key(value):
            yield "order", f"{one} before every {other} per {show_path(path)}"
    yield "order", f"{one} before {other}"
    yield "order", f"every {one} before {other}"
    yield "order", " then ".join(show_tool(each.call.tool) for each in uses)
    for path, value in leaves(use.call.arguments):
        yield "args", _literally(use, path, value, material)


def _argument(mutant: Mutant, use: Use, material: Material) -> Iterator[Line]:
    """The argument tied to where its value was seen, by what else the call carries; else its values, else itself."""
    tool, name = show_tool(use.call.tool), show_path(mutant.path)
    sources = list(_sources(mutant, use, material))
    for source in sources:
        yield "args", f"{tool} where {name} equals {source}"
    if _names(mutant.before):
        yield "args", f"{tool} distinct {name}"
    for source in sources:
        yield "holds", f"args({tool}).{_opened(mutant.path)} same set as {source}"
    values = {key(v): v for each in _alike(use, material) for at, v in leaves(each.call.arguments) if at == mutant.path}
    yield "args", f"{tool} where {name} in [{', '.join(map(_json, values.values()))}]"
    yield "args", _literally(use, mutant.path, mutant.before, material)


def _sources(mutant: Mutant, use: Use, material: Material) -> Iterator[str]:
    """Places that held the value before: in the record the call names otherwise, then anywhere."""
    others = [(path, key(value)) for path, value in leaves(use.call.arguments) if path != mutant.path]
    found: dict[str, None] = {}
    plain: dict[str, None] = {}
    for earlier in material.story.uses[: use.number - 1]:
        tool, answer = show_tool(earlier.call.tool), decoded(earlier.result)
        asked = {path: key(value) for path, value in leaves(earlier.call.arguments)}
        for path, value in leaves(answer):
            if key(value) != key(mutant.before):
                continue
            found |= {f"result({tool}){text}": None for text in _joined(path, answer, others)}
            for argument, passed in others:
                if asked.get(argument) == passed:
                    name = show_path(argument)
                    found[f"result({tool})[{name} = ${name}].{_opened(path)}"] = None
            plain[f"result({tool}).{_opened(path)}"] = None
    yield from (*found, *plain)


def _joined(path: Path, answer: JsonValue, others: list[tuple[Path, Key]]) -> Iterator[str]:
    """`.items[id = $id].amount`: the element chosen by a member that the call carries, too."""
    place = next((n for n, step in enumerate(path) if isinstance(step, int)), None)
    if place is None:
        return
    head, inside = path[:place], path[place + 1 :]
    element = {at[place + 1 :]: key(v) for at, v in leaves(answer) if at[: place + 1] == path[: place + 1]}
    for argument, passed in others:
        for member, value in element.items():
            if value == passed and member and member != inside:
                rest = f".{_opened(inside)}" if inside else ""
                yield f".{_opened(head) or 'it'}[{show_path(member)} = ${show_path(argument)}]{rest}"


def _answer(use: Use, material: Material) -> Iterator[Line]:
    """A read whose answer was an older one: what it was asked shows in it, else what it said."""
    tool, answer = show_tool(use.call.tool), decoded(use.result)
    place = [other for other in _alike(use, material) if other.answered].index(use)
    asked = {key(value): path for path, value in leaves(use.call.arguments)}
    for path, value in leaves(answer):
        if key(value) in asked:
            name = show_path(asked[key(value)])
            yield "holds", f"args({tool}).{name} same set as all(result({tool}).{_opened(path)})"
    for path, value in leaves(answer):
        yield "holds", f"result({tool})[{place}].{show_path(path)} equals {_json(value)}"


def _reported(mutant: Mutant, material: Material) -> Iterator[Line]:
    name = "out" + (f".{_opened(mutant.path)}" if mutant.path else "")
    exact = "out" + (f".{show_path(mutant.path)}" if mutant.path else "")
    before = mutant.before
    if isinstance(before, list):
        yield from _listed(name, before, material)
        yield "outcome", f"count({exact}) equals {len(before)}"
        return
    if isinstance(before, int | float) and not isinstance(before, bool):
        yield from _number(exact, before, material)
    yield from _same_values(
        name, {key(v) for at, v in _outcome(material) if _opened(at) == _opened(mutant.path)}, material
    )
    for use in material.story.uses:
        for path, value in leaves(decoded(use.result)):
            if key(value) == key(before):
                yield "outcome", f"{exact} equals result({show_tool(use.call.tool)}).{_opened(path)}"
    yield "outcome", f"{exact} equals {_json(before)}"


def _outcome(material: Material) -> Iterator[tuple[Path, JsonValue]]:
    outcome = material.story.outcome
    return leaves(outcome.output if outcome is not None else None)


def _listed(name: str, before: list[JsonValue], material: Material) -> Iterator[Line]:
    """A list in the report: the same records as calls carry, or as many."""
    columns: dict[str, set[Key]] = {}
    for element in before:
        for path, value in leaves(element):
            columns.setdefault(f"{name}[]{'.' if path else ''}{_opened(path)}", set()).add(key(value))
    for column, values in columns.items():
        yield from _same_values(column, values, material)
    for tool, uses in _by_tool(material).items():
        if len(uses) == len(before):
            yield "calls", f"{tool} as many as {name}"


def _number(name: str, value: float, material: Material) -> Iterator[Line]:
    for tool, uses in _by_tool(material).items():
        if len(uses) == value:
            yield "calls", f"{tool} as many as {name}"
        for path, _ in leaves(uses[0].call.arguments):
            numbers = [n for use in uses for at, n in leaves(use.call.arguments) if at == path and is_number(n)]
            if numbers and abs(sum(n for n in numbers if isinstance(n, int | float)) - value) < 1e-9:
                yield "outcome", f"{name} equals sum(args({tool}).{_opened(path)})"


def _same_values(name: str, values: set[Key], material: Material) -> Iterator[Line]:
    passed: dict[tuple[str, str], set[Key]] = {}
    for tool, uses in _by_tool(material).items():
        for use in uses:
            for path, value in leaves(use.call.arguments):
                passed.setdefault((tool, _opened(path)), set()).add(key(value))
    for (tool, argument), held in passed.items():
        if held == values:
            yield "outcome", f"{name} same set as args({tool}).{argument}"


def _by_tool(material: Material) -> dict[str, list[Use]]:
    found: dict[str, list[Use]] = {}
    for use in material.story.uses:
        found.setdefault(show_tool(use.call.tool), []).append(use)
    return found


def _literally(use: Use, path: Path, value: JsonValue, material: Material) -> str:
    nth = _alike(use, material).index(use) + 1
    return f"call {nth} of {show_tool(use.call.tool)} where {show_path(path)} equals {_json(value)}"


def _opened(path: Path) -> str:
    """The path with array indices opened: `items[].id`."""
    steps: tuple[Step, ...] = tuple(Wildcard() if isinstance(step, int) else step for step in path)
    return show_path(steps)


def _json(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False)
