"""What would have killed a survivor: an expectation in the contract language, from what the run shows."""

from __future__ import annotations

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.expectations.contract.values import Key, decoded, key, short
from flowproof_runner.mutate.leaves import Path, leaves
from flowproof_runner.mutate.mutant import Mutant
from flowproof_runner.mutate.operators import Material
from flowproof_runner.mutate.story import Use


def suggestion(mutant: Mutant, material: Material) -> str:
    """One line for `expect:`, or a sentence where no line can be derived."""
    use = mutant.use
    match mutant.operator:
        case "drop-call" if use is not None:
            return f"calls: {use.call.tool} at least {_times(use, material)} times"
        case "duplicate-call" | "extra-call" if use is not None:
            return _ceiling(use, material)
        case "reorder" if use is not None:
            second = material.story.uses[use.number]
            return f"order: {use.call.tool} before {second.call.tool}"
        case "swap-arg" | "widen-filter" if use is not None:
            return f"args: {use.call.tool} where {_argument(mutant, use, material)}"
        case "misreport-outcome":
            return f"outcome: {_reported(mutant, material)}"
        case _:
            return "args: tie the arguments of later calls to this answer"


def _times(use: Use, material: Material) -> int:
    return sum(other.call.tool == use.call.tool for other in material.story.uses)


def _ceiling(use: Use, material: Material) -> str:
    times = _times(use, material)
    path = next((at for at, _ in leaves(use.call.arguments)), None)
    if path is not None and times > 1:
        return f"args: {use.call.tool} distinct {_dotted(path)}; or calls: {use.call.tool} at most {times} times"
    return f"calls: {use.call.tool} at most {times} times"


def _argument(mutant: Mutant, use: Use, material: Material) -> str:
    """The argument tied to where its value was seen first, else to the value itself."""
    name = _dotted(mutant.path)
    source = _seen(mutant.before, use, material)
    return f"{name} equals {source}" if source else f"{name} equals {short(mutant.before)}"


def _seen(value: JsonValue, use: Use, material: Material) -> str | None:
    for other in material.story.uses[: use.number - 1]:
        for path, found in leaves(decoded(other.result)):
            if key(found) == key(value):
                return f"result({other.call.tool}).{_general(path)}"
    return None


def _reported(mutant: Mutant, material: Material) -> str:
    name = f"out.{_general(mutant.path)}"
    value = mutant.before
    if isinstance(value, list):
        return f"count({name}) equals the number of calls or records it lists"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _number(name, value, mutant.path, material)
    return _same_set(name, mutant.path, material) or f"{name} equals {short(value)}"


def _same_set(name: str, path: Path, material: Material) -> str | None:
    """The calls whose arguments are just what the report lists there, if there are such."""
    outcome = material.story.outcome
    general = _general(path)
    listed = {key(v) for at, v in leaves(outcome.output if outcome is not None else None) if _general(at) == general}
    passed: dict[tuple[str, str], set[Key]] = {}
    for use in material.story.uses:
        for at, value in leaves(use.call.arguments):
            passed.setdefault((use.call.tool, _general(at)), set()).add(key(value))
    for (tool, argument), values in passed.items():
        if values == listed:
            return f"{name} same set as args({tool}).{argument}"
    return None


def _number(name: str, value: int | float, path: Path, material: Material) -> str:
    tools = {use.call.tool for use in material.story.uses}
    for tool in sorted(tools):
        uses = [use for use in material.story.uses if use.call.tool == tool]
        if len(uses) == value:
            return f"{name} equals count(args({tool}).{_first(uses[0])})"
        for argument, _ in leaves(uses[0].call.arguments):
            numbers = [n for use in uses for at, n in leaves(use.call.arguments) if at == argument and _is_number(n)]
            if numbers and abs(sum(n for n in numbers if isinstance(n, int | float)) - value) < 1e-9:
                return f"{name} equals sum(args({tool}).{_general(argument)})"
    return _same_set(name, path, material) or f"{name} equals {short(value)}"


def _is_number(value: JsonValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _first(use: Use) -> str:
    return next((_general(path) for path, _ in leaves(use.call.arguments)), "it")


def _general(path: Path) -> str:
    """The path with array indices opened: `items[].id`."""
    text = ""
    for step in path:
        text += "[]" if isinstance(step, int) else f".{step}"
    return text.removeprefix(".")


def _dotted(path: Path) -> str:
    return ".".join(map(str, path))
