"""A conversation as it went, as the `conversation:` of a spec: what was said, and assertions that hold of it. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import yaml

from flowproof_addons import FlowproofError
from flowproof_runner.evidence import scope
from flowproof_runner.evidence.conclusion import reply
from flowproof_runner.evidence.model import Evidence
from flowproof_runner.expectations.calls import calls
from flowproof_runner.reading.problems import SpecError
from flowproof_runner.spec.file import of_text
from flowproof_runner.spec.tools import TOOL

type Entry = dict[str, object]
"""One user turn as a spec writes it."""

_SHOWN = 60
_STEPS = re.compile(r"^steps:", re.MULTILINE)
_REFERENCE = re.compile(r"\$\{(?!flowproof\.)")


class UnwritableError(FlowproofError):
    """The spec is written in a way that a conversation cannot be put into."""


def entries(said: Sequence[str], evidence: Evidence) -> list[Entry]:
    """Each user turn with the tools that were called in it, or, where none was, with how the reply began."""
    return [
        {"user": _literal(text), **_held(scope.within(evidence, number))} for number, text in enumerate(said, start=1)
    ]


def fragment(conversation: Sequence[Entry]) -> str:
    """The lines of `conversation:`."""
    wide = 10_000
    return yaml.dump(
        {"conversation": list(conversation)}, Dumper=_Indented, sort_keys=False, allow_unicode=True, width=wide
    )


def with_conversation(text: str, path: Path, conversation: Sequence[Entry]) -> str:
    """The spec's text with the conversation before its `steps:`, else at its end; every other character is kept.

    Raises UnwritableError if what comes of it is no spec.
    """
    end = "\r\n" if "\r\n" in text else "\n"
    steps = _STEPS.search(text)
    at = steps.start() if steps else len(text)
    before = text[:at] if not text[:at] or text[:at].endswith("\n") else text[:at] + end
    written = before + fragment(conversation).replace("\n", end) + text[at:]
    try:
        loaded = of_text(written, path)
    except SpecError as error:
        raise UnwritableError(f"{path}: the conversation cannot be written into it: {error}") from error
    assert len(loaded.user_turns) == len(conversation)
    return written


def _held(evidence: Evidence) -> Entry:
    called = [call.tool for call in calls(evidence) if call.counts and re.match(TOOL, call.tool)]
    if called:
        return {"assert_tool_call": called if len(called) > 1 else called[0]}
    begun = beginning(reply(evidence) or "")
    return {"assert": {"reply": {"contains": _literal(begun)}}} if begun else {}


def _literal(text: str) -> str:
    """The text as a spec has to write it: no variable is meant. Handles are filled in nowhere here."""
    return _REFERENCE.sub("$${", text)


def beginning(text: str) -> str:
    """The first line that holds anything, or as many whole words of it as are told apart at a glance."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= _SHOWN else line[:_SHOWN].rpartition(" ")[0] or line[:_SHOWN]


class _Indented(yaml.SafeDumper):
    """Lists stand two further in than their key, as in every spec of ours."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """See yaml.emitter."""
        super().increase_indent(flow, False)
