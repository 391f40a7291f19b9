"""A pinned text known again: what the recording calls by one name, this run calls by another.

Learnt where a pin held two different texts apart; from then on the recorded text is served as the run's own, and the
two count as one wherever else they stand in a request.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from flowproof_addons.matching.rules import mark
from flowproof_addons.trace import rewriting
from flowproof_addons.trace.model import JsonValue, Reply
from flowproof_addons.trace.stitch import Edit

SHORTEST = 4
"""Shorter texts (`13`, `2s`) stand in too many other places to be known again."""


class Echo:
    """The texts of one run that stand for recorded ones."""

    def __init__(self) -> None:
        self._sent: dict[str, str] = {}
        self._class: dict[str, int] = {}
        self._serving: re.Pattern[str] | None = None
        self._either: re.Pattern[str] | None = None
        self.version = 0
        """Grows whenever something new is learnt."""

    def __bool__(self) -> bool:
        return bool(self._sent)

    def learn(self, recorded: str, sent: str) -> None:
        """From now on `sent` is this run's word for `recorded`."""
        if recorded == sent or min(len(recorded), len(sent)) < SHORTEST or self._sent.get(recorded) == sent:
            return
        self._sent[recorded] = sent
        number = self._class.get(recorded, self._class.get(sent, len(self._class)))
        self._class[recorded] = self._class[sent] = number
        self._serving, self._either = _any(self._sent), _any(self._class)
        self.version += 1

    def serve(self, reply: Reply) -> Reply:
        """The recorded reply in this run's words."""
        return rewriting.reply(reply, self._served) if self._sent else reply

    def levelled(self, value: JsonValue) -> JsonValue:
        """The value with both words of each pair replaced by one mark; shares what holds neither."""
        return rewriting.value(value, self._level) if self._sent else value

    def _served(self, text: str) -> Sequence[Edit]:
        assert self._serving is not None
        return [Edit(*found.span(), self._sent[found[0]]) for found in self._serving.finditer(text)]

    def _level(self, text: str) -> Sequence[Edit]:
        assert self._either is not None
        return [
            Edit(*found.span(), mark("known again", str(self._class[found[0]])))
            for found in self._either.finditer(text)
        ]


def _any(words: Mapping[str, object]) -> re.Pattern[str]:
    """Finds each word, the longest first, but not inside a longer word of the same kind."""
    return re.compile("|".join(_word(word) for word in sorted(words, key=len, reverse=True)))


def _word(word: str) -> str:
    before = r"(?<![A-Za-z0-9])" if word[0].isalnum() else ""
    after = r"(?![A-Za-z0-9])" if word[-1].isalnum() else ""
    return before + re.escape(word) + after
