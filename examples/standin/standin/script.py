"""The script: rules that say which request gets which answer. The format is described in `../model.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from flowproof_addons.dialects import raw
from flowproof_addons.dialects.base import ModelRequest
from flowproof_addons.trace.model import JsonValue

DEFAULT = Path(__file__).parents[1] / "script.json"
"""What the stand-in says when it is given no script: a flight is booked, a transfer of money is asked for."""


class Part(BaseModel):
    """Base of everything here: immutable, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class When(Part):
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


class Call(Part):
    """A tool the model asks for."""

    tool: str
    arguments: dict[str, JsonValue] | str = Field(default_factory=dict)
    freeform: bool = False

    @property
    def text(self) -> str:
        """The arguments as they stand on the wire."""
        return self.arguments if isinstance(self.arguments, str) else raw.compact(self.arguments)


class Fail(Part):
    """How the first requests are answered instead."""

    status: int = 429
    times: int = 1


class Rule(Part):
    """One rule of the script."""

    when: When = When()
    say: str = ""
    think: str = ""
    refuse: str = ""
    call: list[Call] = []
    fail: Fail | None = None
    delay_ms: int = 0
    cut_after: int | None = None
    error_after: int | None = None


_SCRIPT = TypeAdapter(list[Rule])


def load(path: Path = DEFAULT) -> list[Rule]:
    """The script in a file. Raises ValueError if it is not as `../model.py` says."""
    try:
        return _SCRIPT.validate_json(path.read_text())
    except ValidationError as error:
        raise ValueError(f"{path}: {error}") from error


def rules(script: list[JsonValue]) -> list[Rule]:
    """The script in a value. Raises ValueError likewise."""
    return _SCRIPT.validate_python(script)


def choose(script: Sequence[Rule], asked: ModelRequest, body: Mapping[str, JsonValue]) -> Rule | None:
    """The first rule of the script that answers a request."""
    user = last_user_text(body)
    return next((rule for rule in script if rule.when.holds(asked, user)), None)


def last_user_text(body: Mapping[str, JsonValue]) -> str:
    """The text of the last user message, in any of the APIs."""
    if isinstance(given := body.get("input"), str):
        return given
    messages = raw.objects(body.get("messages")) + raw.objects(given) + raw.objects(body.get("contents"))
    said = [message.get("content", message.get("parts")) for message in messages if message.get("role") == "user"]
    texts = [raw.text_of(content) for content in said]
    return next((text for text in reversed(texts) if text), "")
