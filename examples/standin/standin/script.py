"""The script: rules that say which request gets which answer. The format is described in `../model.py`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

from flowproof_addons.dialects import raw
from flowproof_addons.dialects.base import ModelRequest
from flowproof_addons.trace.model import JsonValue

DEFAULT = Path(__file__).parents[1] / "script.json"
"""What the stand-in says when it is given no script: a flight is booked, a transfer of money is asked for."""


@dataclass(frozen=True, slots=True)
class When:
    """What a request must be for a rule to answer it."""

    user: str = ""
    system: str = ""
    offered: str = ""
    results: int | None = None
    told: str = ""
    result: str = ""
    model: str = ""

    def holds(self, asked: ModelRequest, user: str) -> bool:
        """True when the request fulfils every condition."""
        last = asked.results[-1] if asked.results else None
        return (
            self.user.casefold() in user.casefold()
            and self.system.casefold() in asked.system.casefold()
            and (not self.offered or self.offered in asked.tools)
            and (self.results is None or self.results == len(asked.results))
            and (not self.told or (last is not None and last.name == self.told))
            and (not self.result or (last is not None and self.result in raw.compact(last.content)))
            and self.model in ("", asked.model)
        )


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of the script."""

    when: When = field(default_factory=When)
    say: str = ""
    think: str = ""
    refuse: str = ""
    call: tuple[tuple[str, str], ...] = ()
    """Tool and arguments text."""
    fail_status: int = 429
    fail_times: int = 0
    delay_ms: int = 0
    cut_after: int | None = None
    error_after: int | None = None


def load(path: Path = DEFAULT) -> JsonValue:
    """The script in a file."""
    return raw.parse(path.read_text())


def rules(script: JsonValue) -> tuple[Rule, ...]:
    """The rules in a script. Raises ValueError if it is not as the top of this file says."""
    if not isinstance(script, list):
        raise ValueError("a script is a list of rules")
    return tuple(_rule(rule) for rule in script)


def _rule(rule: JsonValue) -> Rule:
    given = dict(raw.as_object(rule))
    when, calls, fail = (
        raw.as_object(given.pop("when", {})),
        raw.objects(given.pop("call", [])),
        raw.as_object(given.pop("fail", {})),
    )
    allowed = {f.name for f in fields(Rule)} - {"when", "call", "fail_status", "fail_times"}
    if strange := [
        *(given.keys() - allowed),
        *(when.keys() - {f.name for f in fields(When)}),
        *(fail.keys() - {"status", "times"}),
    ]:
        raise ValueError(f"a rule knows no {strange[0]!r}: {raw.compact(rule)}")
    return Rule(
        When(**when),  # type: ignore[arg-type]  # a wrong type shows when the rule is used
        call=tuple((raw.as_text(call.get("tool")), _arguments(call.get("arguments", {}))) for call in calls),
        fail_status=raw.as_int(fail.get("status")) or 429,
        fail_times=(raw.as_int(fail.get("times")) or 1) if fail else 0,
        **given,  # type: ignore[arg-type]  # as above
    )


def _arguments(given: JsonValue) -> str:
    return given if isinstance(given, str) else raw.compact(given)


def last_user_text(body: Mapping[str, JsonValue]) -> str:
    """The text of the last user message, in any of the three APIs."""
    if isinstance(given := body.get("input"), str):
        return given
    messages = raw.objects(body.get("messages")) + raw.objects(given)
    texts = [raw.text_of(message.get("content")) for message in messages if message.get("role") == "user"]
    return next((text for text in reversed(texts) if text), "")
