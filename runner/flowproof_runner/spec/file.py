"""A spec file to a checked spec, or every error in it at once."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from flowproof_addons.trace import plain
from flowproof_runner.expectations.ast import PlacedStep, Prompt
from flowproof_runner.reading import errors
from flowproof_runner.reading.document import Document
from flowproof_runner.reading.problems import Complaint, Problem, SpecError
from flowproof_runner.reading.reader import read
from flowproof_runner.spec import capabilities, lint, variables
from flowproof_runner.spec.include import included
from flowproof_runner.spec.model import Spec

SUFFIXES = (".flow.yaml", ".flow.yml")


@dataclass(frozen=True, slots=True)
class LoadedSpec:
    """A spec that was read and found right."""

    path: Path
    digest: str
    """SHA-256 (hex) of its text with LF line ends."""
    spec: Spec
    steps: tuple[PlacedStep, ...]
    document: Document
    """For the places of things: `document.where(("agent", "command"))`."""

    @property
    def task(self) -> str:
        """What the agent is told at its start: all prompts, joined with newlines, or the first user turn."""
        if self.user_turns:
            return self.user_turns[0]
        return "\n".join(each.step.text for each in self.steps if isinstance(each.step, Prompt))

    @property
    def user_turns(self) -> tuple[str, ...]:
        """What the user says in a conversation, turn by turn; empty where there is one task."""
        return tuple(turn.user for turn in self.spec.conversation)


def load(path: Path, *, supported: frozenset[str] | None = None, unfinished: bool = False) -> LoadedSpec:
    """Read and check a spec. `supported`: the capabilities it may ask for; None: what this version has.

    `unfinished`: it may lack its task and its assertions, which are about to be written.

    Raises SpecError with every problem found.
    """
    return of_text(text_of(path), path, supported=supported, unfinished=unfinished)


def of_text(text: str, path: Path, *, supported: frozenset[str] | None = None, unfinished: bool = False) -> LoadedSpec:
    """The same for a text that stands, or is to stand, in a file."""
    document = read(text, str(path))
    spec, problems = _checked(document, path.parent)
    problems += capabilities.missing(document, supported)
    problems += lint.cut(document)
    problems += variables.malformed(document)
    if not unfinished:
        problems += [document.problem((), complaint) for complaint in lint.empty(document.root)]
    if spec is None or problems:
        raise SpecError(problems)
    return LoadedSpec(path, digest(text), spec, placed(spec, document), document)


def text_of(path: Path) -> str:
    """The text of a file that a person wrote.

    Raises SpecError if it cannot be read.
    """
    try:
        return plain.read(path).decode("utf-8")
    except OSError as error:
        raise SpecError([Problem(str(path), 0, 0, "", f"cannot be read: {error.strerror}")]) from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise SpecError([Problem(str(path), line, 1, "", "not UTF-8 text; save the file as UTF-8")]) from error


def digest(text: str) -> str:
    """SHA-256 (hex) of a text with LF line ends, so that a checkout with CRLF is the same spec."""
    return hashlib.sha256(text.replace("\r\n", "\n").encode()).hexdigest()


def placed(spec: Spec, document: Document) -> tuple[PlacedStep, ...]:
    """The assertions of a conversation and the steps of a spec, with their places, in one numbering."""
    found = [
        (step, document.where(("conversation", number, *loc)), number + 1)
        for number, turn in enumerate(spec.conversation)
        for loc, step in turn.steps
    ]
    whole = [(entry.step, document.where(("steps", number)), None) for number, entry in enumerate(spec.steps)]
    return tuple(
        PlacedStep(step, number, where, user_turn)
        for number, (step, where, user_turn) in enumerate([*found, *whole], start=1)
    )


def _checked(document: Document, folder: Path) -> tuple[Spec | None, list[Problem]]:
    root, problems = included(document, folder)
    if not isinstance(root, dict):
        return None, [document.problem((), Complaint("a spec is a mapping: name, app, agent, steps"))]
    try:
        spec = Spec.model_validate(root)
    except ValidationError as error:
        return None, [*problems, *errors.problems(error, document, Spec)]
    return spec, [*problems, *(document.problem((), each) for each in lint.contradictions(spec))]
