"""The person at the keyboard as the user of a conversation."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from flowproof_addons import FlowproofError
from flowproof_addons.dialects.base import Registry
from flowproof_addons.trace import journal
from flowproof_addons.trace.json_value import compact
from flowproof_runner.drivers.tail import clean
from flowproof_runner.flow import tally
from flowproof_runner.program import streams


class TypedError(FlowproofError):
    """What was typed cannot be read."""


@dataclass(slots=True)
class Typist:
    """Shows what the agent did with a user turn and asks for the next one; an empty line or the end of stdin ends it.

    A source of user turns (`drivers.dialogue.Source`). Reads in the thread that runs the flow.
    """

    registry: Registry
    said: list[str] = field(default_factory=list)
    """What was typed, from the first."""
    over: bool = False
    """The person has no more to say."""
    folder: Path | None = None
    """Where the flow's boundary writes what crosses."""
    _ahead: int = 0

    def begin(self) -> bool:
        """Ask for the first user turn, before anything is started; False: there is none."""
        if sys.stdin.isatty():
            with contextlib.suppress(ImportError):
                import readline  # noqa: F401  # gives `input` its line editing
        text = self._asked()
        self._ahead = 1
        return text is not None

    def next(self, reply: str) -> str | None:
        """See Source."""
        if self._ahead:
            self._ahead = 0
            return self.said[0]
        self._show(reply)
        return self._asked()

    def _asked(self) -> str | None:
        try:
            text = input(f"user {len(self.said) + 1}> ").strip()
        except EOFError:
            text = ""
        except UnicodeDecodeError as error:
            raise TypedError(f"user turn {len(self.said) + 1} is not UTF-8 text: {error.reason}") from error
        if not text or not sys.stdin.isatty():
            streams.tell("\n", sys.stdout)  # the cursor still stands behind the question
        if not text:
            self.over = True
            return None
        self.said.append(text)
        return text

    def _show(self, reply: str) -> None:
        calls = "".join(f"  calls {line}\n" for line in self._calls())
        first, *rest = clean(reply).strip().splitlines() or ["(no words)"]
        words = "".join(f"       {line}\n" for line in rest)
        streams.tell(f"{calls}agent> {first}\n{words}", sys.stdout)

    def _calls(self) -> Iterator[str]:
        """The tools the model asked for since the person spoke."""
        assert self.folder is not None
        for exchange in journal.read(self.folder / "trace.jsonl"):
            told = tally.read(exchange, self.registry) if exchange.user_turn == len(self.said) else None
            for call in told.calls if told is not None else ():
                yield clean(f"{call.name} {compact(call.arguments)}")
