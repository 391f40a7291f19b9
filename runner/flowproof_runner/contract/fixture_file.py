"""Fixtures as files write them: a value, `$file`, or `$cases`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.drivers.fixtures import Case
from flowproof_runner.matchers.matchers import subset
from flowproof_runner.reading.problems import Complaint, Loc, SpecError
from flowproof_runner.reading.reader import read
from flowproof_runner.reading.scalars import value


@dataclass
class FixtureReader:
    """Reads fixtures; whatever is wrong is collected, located from the fixture on."""

    folder: Path
    """What `$file` is relative to."""
    complaints: list[Complaint] = field(default_factory=list)

    def cases(self, node: JsonValue) -> tuple[Case, ...]:
        """The answers of one tool."""
        if isinstance(node, dict) and "$cases" in node:
            return tuple(self._cases(node))
        return (Case(self.resolved(node, ())),)

    def resolved(self, node: JsonValue, loc: Loc) -> JsonValue:
        """The value itself, or the content of the file it names."""
        if not isinstance(node, dict) or "$file" not in node:
            return node
        name = node["$file"]
        if len(node) > 1 or not isinstance(name, str):
            self._complain("$file stands alone and names a file", loc)
            return None
        try:
            return read_value(self.folder / name)
        except (OSError, ValueError, SpecError) as error:
            self._complain(f"{name} cannot be read: {error}", loc)
            return None

    def _cases(self, node: Mapping[str, JsonValue]) -> Iterator[Case]:
        found = node["$cases"]
        if len(node) > 1 or not isinstance(found, list) or not found:
            self._complain("$cases stands alone and is a list of at least one case", ())
            return
        earlier: list[Case] = []
        for place, each in enumerate(found):
            here: Loc = ("$cases", place)
            case = self._case(each, here)
            if case is None:
                continue
            if any(_shadows(before, case) for before in earlier):
                self._complain("is never reached: an earlier case fits every call it fits", here)
            earlier.append(case)
            yield case

    def _case(self, node: JsonValue, loc: Loc) -> Case | None:
        if not isinstance(node, dict) or "result" not in node or node.keys() - {"callIndex", "arguments", "result"}:
            self._complain("a case has a result, and may have callIndex and arguments", loc)
            return None
        call, arguments = node.get("callIndex"), node.get("arguments")
        if call is not None and (isinstance(call, bool) or not isinstance(call, int) or call < 0):
            self._complain("callIndex is a whole number from 0", loc)
            return None
        if arguments is not None and not isinstance(arguments, dict):
            self._complain("arguments is an object", loc)
            return None
        return Case(self.resolved(node["result"], (*loc, "result")), call, arguments)

    def _complain(self, message: str, loc: Loc) -> None:
        self.complaints.append(Complaint(message, loc))


def read_value(path: Path) -> JsonValue:
    """The JSON value of a JSON or YAML file. Raises OSError, ValueError or SpecError."""
    text = path.read_text("utf-8")
    if path.suffix == ".json":
        found: JsonValue = json.loads(text)
        return found
    return value(read(text, str(path)).root)


def _shadows(earlier: Case, later: Case) -> bool:
    if earlier.call is not None and earlier.call != later.call:
        return False
    if earlier.arguments is None:
        return True
    return later.arguments is not None and subset(dict(earlier.arguments), dict(later.arguments))
