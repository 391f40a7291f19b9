"""A spec file to a checked spec, or every error in it at once."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from flowproof_runner.expectations.ast import PlacedStep, Prompt
from flowproof_runner.spec import capabilities, errors, lint, variables
from flowproof_runner.spec.document import Document
from flowproof_runner.spec.include import included
from flowproof_runner.spec.model import Spec
from flowproof_runner.spec.problems import Complaint, Problem, SpecError
from flowproof_runner.spec.reader import read

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
        """What the agent is told: all prompts, joined with newlines."""
        return "\n".join(each.step.text for each in self.steps if isinstance(each.step, Prompt))


def load(path: Path, *, supported: frozenset[str] | None = None) -> LoadedSpec:
    """Read and check a spec. `supported`: the capabilities it may ask for; None: what this version has.

    Raises SpecError with every problem found.
    """
    text = text_of(path)
    document = read(text, str(path))
    spec, problems = _checked(document, path.parent)
    problems += capabilities.missing(document, supported)
    problems += lint.cut(document)
    problems += variables.malformed(document)
    problems += [document.problem((), complaint) for complaint in lint.empty(document.root)]
    if spec is None or problems:
        raise SpecError(problems)
    return LoadedSpec(path, digest(text), spec, placed(spec, document), document)


def text_of(path: Path) -> str:
    """The text of a file that a person wrote.

    Raises SpecError if it cannot be read.
    """
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise SpecError([Problem(str(path), 0, 0, "", f"cannot be read: {error.strerror}")]) from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise SpecError([Problem(str(path), line, 1, "", "not UTF-8 text; save the file as UTF-8")]) from error


def digest(text: str) -> str:
    """SHA-256 (hex) of a text with LF line ends, so that a checkout with CRLF is the same spec."""
    return hashlib.sha256(text.replace("\r\n", "\n").encode()).hexdigest()


def placed(spec: Spec, document: Document) -> tuple[PlacedStep, ...]:
    """The steps of a spec with their places."""
    return tuple(
        PlacedStep(entry.step, number + 1, document.where(("steps", number))) for number, entry in enumerate(spec.steps)
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
