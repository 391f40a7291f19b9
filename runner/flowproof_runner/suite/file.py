"""`suite.yaml` beside specs: what all flows of one folder share."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field, ValidationError

from flowproof_runner.program.version import version
from flowproof_runner.reading import errors
from flowproof_runner.reading.document import Document
from flowproof_runner.reading.fields import Command, Part, Text, Variable, Words
from flowproof_runner.reading.problems import Complaint, Problem, SpecError
from flowproof_runner.reading.reader import read
from flowproof_runner.spec import variables
from flowproof_runner.spec.file import text_of
from flowproof_runner.suite import ageing, env_file
from flowproof_runner.suite.ageing import MaxAge

NAME = "suite.yaml"


def _several(node: object) -> object:
    """One file or command may be written without a list."""
    return node if isinstance(node, list) else [node]


class Grammar(Part):
    """The keys of a suite file."""

    env: dict[Variable, Text] = Field(default_factory=dict, description="For every agent, below its own agent.env.")
    env_from: Annotated[tuple[Words, ...], BeforeValidator(_several)] = Field(
        default=(), description="Files of NAME=VALUE lines; what the shell has set already wins."
    )
    before_each: Annotated[tuple[Command, ...], BeforeValidator(_several)] = Field(
        default=(), description="A list of commands, run in this folder before each flow."
    )
    after_each: Annotated[tuple[Command, ...], BeforeValidator(_several)] = Field(
        default=(), description="A list of commands, run in this folder after each flow, whatever became of it."
    )
    addons: Annotated[tuple[Words, ...], BeforeValidator(_several)] = Field(
        default=(), description="Python files in this folder that register dialects or hold mitmproxy hooks."
    )
    order: tuple[Words, ...] = Field(default=(), description="Spec files that come first, in this order.")
    max_age: Annotated[MaxAge | None, BeforeValidator(ageing.of_node)] = Field(
        default=None, description="90d: a flow with an older cassette fails; or warn: and fail:, each in days."
    )
    min_version: Words | None = Field(default=None, description="The oldest flowproof these specs work with.")


@dataclass(frozen=True, slots=True)
class Suite:
    """A suite file that was read and found right; the empty one where there is none."""

    document: Document | None = None
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    """As written: variables and handles are not filled in yet."""
    shell: Mapping[str, str] = field(default_factory=dict, repr=False)
    """From `env_from`: below the shell's own, and like it no place from which a key reaches an agent."""
    before_each: tuple[tuple[str, ...], ...] = ()
    after_each: tuple[tuple[str, ...], ...] = ()
    order: tuple[str, ...] = ()
    addons: tuple[Path, ...] = ()
    """Absolute."""
    max_age: MaxAge | None = None

    def filled(self, environ: Mapping[str, str]) -> dict[str, str]:
        """`env` with its variables' values; handles stay. Raises SpecError naming each that is not set."""
        found, problems = dict[str, str](), list[Problem]()
        for name, text in self.env.items():
            try:
                found[name] = variables.filled(text, environ)
            except variables.UnsetError as error:
                assert self.document is not None
                said = f"environment variable {error} is not set"
                problems.append(self.document.problem(("env", name), Complaint(said)))
        if problems:
            raise SpecError(problems)
        return found

    def where(self, key: str) -> str:
        """`file:line` of a key."""
        return self.document.where((key,)) if self.document is not None else ""


@dataclass(slots=True)
class Suites:
    """The suite files of one invocation, each read once."""

    _read: dict[Path, Suite] = field(default_factory=dict)

    def beside(self, spec: Path) -> Suite:
        """The suite of a spec. Raises SpecError with every problem of its suite file."""
        folder = spec.parent
        if folder not in self._read:
            self._read[folder] = load(folder)
        return self._read[folder]

    def ordered(self, paths: Sequence[Path]) -> tuple[Path, ...]:
        """The specs with those a suite names first moved before the others of their folder."""
        firsts = {path.parent: index for index, path in reversed(tuple(enumerate(paths)))}
        return tuple(sorted(paths, key=lambda path: (firsts[path.parent], self._rank(path))))

    def _rank(self, path: Path) -> int:
        try:
            order = self.beside(path).order
        except SpecError:
            return 0  # said where the spec is read
        return order.index(path.name) if path.name in order else len(order)


def load(folder: Path) -> Suite:
    """The suite file in a folder.

    Raises SpecError with every problem found.
    """
    path = folder / NAME
    if not os.path.lexists(path):  # a link that leads nowhere is no suite left out
        return Suite()
    document = read(text_of(path), str(path))
    grammar, problems = _grammar(document)
    problems += variables.malformed(document)
    if grammar is None or problems:
        raise SpecError(problems)
    problems = [*_version(grammar, document), *_order(grammar, document, folder), *_addons(grammar, document, folder)]
    shell = _shell(grammar, document, folder, problems)
    if problems:
        raise SpecError(problems)
    addons = tuple((folder / name).absolute() for name in grammar.addons)
    return Suite(
        document,
        grammar.env,
        shell,
        grammar.before_each,
        grammar.after_each,
        grammar.order,
        addons,
        grammar.max_age,
    )


def _grammar(document: Document) -> tuple[Grammar | None, list[Problem]]:
    if not isinstance(document.root, dict):
        keys = ", ".join(Grammar.model_fields)
        return None, [document.problem((), Complaint(f"a suite is a mapping; accepted: {keys}"))]
    try:
        return Grammar.model_validate(document.root), []
    except ValidationError as error:
        return None, list(errors.problems(error, document, Grammar))


def _version(grammar: Grammar, document: Document) -> list[Problem]:
    if grammar.min_version is None:
        return []
    wanted, have = _numbers(grammar.min_version), _numbers(version())
    if wanted is None:
        return [document.problem(("min_version",), Complaint("is no version; accepted: 0.1.0"))]
    if have is not None and have < wanted:
        said = f"these specs need flowproof {grammar.min_version}, this is {version()}: upgrade it"
        return [document.problem(("min_version",), Complaint(said))]
    return []


def _numbers(text: str) -> tuple[int, ...] | None:
    parts = text.split(".")
    return tuple(map(int, parts)) if all(part.isascii() and part.isdigit() for part in parts) else None


def _order(grammar: Grammar, document: Document, folder: Path) -> list[Problem]:
    return [
        document.problem(("order", index), Complaint(f"{name!r} is no spec here; accepted: files beside {NAME}"))
        for index, name in enumerate(grammar.order)
        if "/" in name or not (folder / name).is_file()
    ]


def _addons(grammar: Grammar, document: Document, folder: Path) -> list[Problem]:
    said = f"accepted: Python files, relative to {NAME}"
    return [
        document.problem(("addons", index), Complaint(f"{name!r} is no Python file here; {said}"))
        for index, name in enumerate(grammar.addons)
        if not name.endswith(".py") or not (folder / name).is_file()
    ]


def _shell(grammar: Grammar, document: Document, folder: Path, problems: list[Problem]) -> dict[str, str]:
    found = dict[str, str]()
    for index, name in enumerate(grammar.env_from):
        try:
            found |= env_file.read(folder / name)
        except env_file.EnvFileError as error:
            problems.append(document.problem(("env_from", index), Complaint(str(error))))
    return found
