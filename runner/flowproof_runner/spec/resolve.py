"""A spec whose `${NAME}` references have become their values: what a run works with, and nothing ever stores."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from flowproof_addons.trace.model import Phase
from flowproof_addons.trace.redact import SHORTEST
from flowproof_runner.expectations.ast import NoSecretLeak
from flowproof_runner.matchers.matchers import Matches, Operand, literal, operand
from flowproof_runner.matchers.regex import PatternError, compiled
from flowproof_runner.reading.problems import Complaint, Loc, Problem, SpecError
from flowproof_runner.spec import variables
from flowproof_runner.spec.file import LoadedSpec, placed
from flowproof_runner.spec.lint import too_short

_RECORD_ONLY = frozenset({"command", "env", "cwd", "url", "headers"})
"""What an MCP server needs to be reached: at replay nobody reaches it, so its secrets need not be there."""


def resolved(loaded: LoadedSpec, environ: Mapping[str, str], phase: Phase) -> LoadedSpec:
    """The spec with every variable's value in place. At replay the real MCP servers' variables may be unset.

    A value is read as unquoted prose would be: a clause `equals ${COUNT}` accepts 5 and "5" when COUNT is 5. Inside
    a regular expression it stands for its own characters.

    Raises SpecError naming every variable that is not set or, as a secret, too short to be hidden, with its place.
    """
    resolver = _Resolver(loaded, environ, phase)
    spec = resolver.value(loaded.spec, ())
    resolver.hidable()
    leaks = {name for each in loaded.steps if isinstance(each.step, NoSecretLeak) for name in each.step.variables}
    for name in sorted(leaks - environ.keys()):
        resolver.unset(name, ("steps",))
    if resolver.problems:
        raise SpecError(resolver.problems)
    return dataclasses.replace(loaded, spec=spec, steps=placed(spec, loaded.document))


def secrets(loaded: LoadedSpec, environ: Mapping[str, str]) -> dict[str, str]:
    """Name to value of what must not reach the disk: `redact.values` and `assert_no_secret_leak`, as far as set."""
    named = [name for text in loaded.spec.redact.values for name in variables.names(text)]
    named += [name for each in loaded.steps if isinstance(each.step, NoSecretLeak) for name in each.step.variables]
    written = {f"REDACTED_{n}": text for n, text in enumerate(loaded.spec.redact.values) if not variables.names(text)}
    return {name: environ[name] for name in named if environ.get(name)} | written


def unhidden(loaded: LoadedSpec, environ: Mapping[str, str]) -> list[str]:
    """Notes on what `redact.values` names and nothing is known of: it is not hidden, wherever the agent has it from."""
    named = {name for text in loaded.spec.redact.values for name in variables.names(text)}
    return [
        f"redact.values: {name} is not set: if the agent gets it in another way, it is recorded as it is"
        for name in sorted(named)
        if not environ.get(name)
    ]


class _Resolver:
    """Walks a spec and notes what cannot be resolved."""

    def __init__(self, loaded: LoadedSpec, environ: Mapping[str, str], phase: Phase) -> None:
        self.loaded = loaded
        self.phase = phase
        self.environ = environ
        self.problems: list[Problem] = []

    def unset(self, name: str, loc: Loc) -> None:
        if loc[0] == "redact" or (self.phase == "replay" and loc[0] == "mcp" and loc[2] in _RECORD_ONLY):
            return
        said = f"environment variable {name} is not set; set it, or write $${{{name}}} if the text is meant"
        self.problems.append(self.loaded.document.problem(loc, Complaint(said)))

    def hidable(self) -> None:
        """Each variable of `redact.values` must hold a text that can be told from others."""
        for number, text in enumerate(self.loaded.spec.redact.values):
            for name in variables.names(text):
                found = self.environ.get(name)
                if found and len(found) < SHORTEST:
                    said = (
                        f"{name} is too short: {too_short(found)}; give it a real secret's length, or use redact.keys"
                    )
                    self.problems.append(self.loaded.document.problem(("redact", "values", number), Complaint(said)))

    def value(self, value: Any, loc: Loc) -> Any:
        """The same value with its texts resolved, whatever part of a spec it is."""
        match value:
            case str():
                return self.text(value, loc)
            case BaseModel():
                return value.model_copy(update=self._fields(value, loc))
            case Operand():
                return self._operand(value, loc)
            case Matches():
                return self._pattern(value, loc)
            case NoSecretLeak():
                return value
            case tuple() | list():
                return type(value)(self.value(each, (*loc, number)) for number, each in enumerate(value))
            case dict():
                return {key: self.value(each, (*loc, key)) for key, each in value.items()}
            case _ if dataclasses.is_dataclass(value) and not isinstance(value, type):
                inner = {f.name: self.value(getattr(value, f.name), loc) for f in dataclasses.fields(value)}
                return dataclasses.replace(value, **inner)
            case _:
                return value

    def text(self, text: str, loc: Loc) -> str:
        try:
            return variables.filled(text, self.environ)
        except variables.UnsetError as error:
            self.unset(str(error), loc)
            return text

    def _fields(self, model: BaseModel, loc: Loc) -> dict[str, object]:
        """Only what was written: touching a default would make it look written."""
        fields = type(model).model_fields
        return {
            name: self.value(getattr(model, name), (*loc, fields[name].alias or name))
            for name in model.model_fields_set
            if name != "assert_no_secret_leak"
        }

    def _operand(self, wanted: Operand, loc: Loc) -> Operand:
        if not isinstance(wanted.value, str):
            inner = self.value(wanted.value, loc)
            return wanted if inner == wanted.value else operand(inner)
        text = self.text(wanted.text, loc)
        return Operand(literal(text), text) if variables.names(wanted.text) else Operand(text, text)

    def _pattern(self, wanted: Matches, loc: Loc) -> Matches:
        try:
            return Matches(compiled(variables.filled(wanted.pattern.pattern, self.environ, re.escape)))
        except PatternError:
            # the values stay unsaid: they may be secrets
            said = f"the values of its variables make {wanted.pattern.pattern!r} a pattern that could search for ever"
            self.problems.append(self.loaded.document.problem(loc, Complaint(said)))
            return wanted
        except variables.UnsetError as error:
            self.unset(str(error), loc)
            return wanted
