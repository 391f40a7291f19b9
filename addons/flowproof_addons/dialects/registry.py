"""The dialects in force: our own, those that installed packages bring, and those that addon files register.

A package brings one by an entry point in the group `flowproof.dialects`, an instance or a class:

    [project.entry-points."flowproof.dialects"]
    cohere-chat = "my_package.cohere:CohereChat"

An addon file calls `register(CohereChat())` when it is loaded.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from flowproof_addons.dialects.anthropic_messages import AnthropicMessages
from flowproof_addons.dialects.base import Dialect, Registry
from flowproof_addons.dialects.gemini import Gemini
from flowproof_addons.dialects.ollama import OllamaChat
from flowproof_addons.dialects.openai_chat import OpenAIChat
from flowproof_addons.dialects.openai_responses import OpenAIResponses
from flowproof_addons.errors import FlowproofError

GROUP = "flowproof.dialects"

_MEMBERS = sorted({*Dialect.__annotations__, *(name for name in vars(Dialect) if not name.startswith("_"))})


class BrokenDialectError(FlowproofError):
    """An installed package or an addon file brings a dialect that cannot be used."""


@cache
def default() -> Registry:
    """Our dialects and those of installed packages, which are tried first. Looked up once per process.

    Raises BrokenDialectError if one cannot be loaded, is no dialect, or takes a name already taken.
    """
    return assembled(entry_points(group=GROUP))


def register(dialect: Dialect) -> None:
    """Put a dialect before all others of this process; the same class again takes its own place.

    For addon files: at the top level of one, so that it holds in the boundary and in the runner.
    Raises BrokenDialectError if it is no dialect, or takes a name already taken.
    """
    registry = default()
    if missing := _missing(dialect):
        raise BrokenDialectError(f"{dialect!r} is no dialect, it lacks {', '.join(missing)}")
    named = registry.named(dialect.name)
    if named is not None and _origin(named) != _origin(dialect):
        raise BrokenDialectError(
            f"the dialect name {dialect.name!r} is taken by {_origin(named)[1]}; cassettes could not tell the two apart"
        )
    registry.dialects = (dialect, *(other for other in registry.dialects if other is not named))


def assembled(announced: Iterable[EntryPoint]) -> Registry:
    """The registry with these entry points loaded, in the order of their names."""
    own: tuple[Dialect, ...] = (
        OpenAIChat(),
        OpenAIResponses(),
        AnthropicMessages(),
        Gemini(),
        OllamaChat(),
    )
    foreign: list[Dialect] = []
    for entry in sorted(announced, key=lambda entry: entry.name):
        dialect = _loaded(entry)
        if any(dialect.name == other.name for other in (*own, *foreign)):
            raise _broken(entry, f"the name {dialect.name!r} is taken; cassettes could not tell the two apart")
        foreign.append(dialect)
    return Registry((*foreign, *own))


def _loaded(entry: EntryPoint) -> Dialect:
    try:
        loaded = entry.load()
        dialect: Dialect = loaded() if isinstance(loaded, type) else loaded
    except Exception as error:  # whatever a stranger's module does when it is imported
        raise _broken(entry, f"{type(error).__name__}: {error}") from error
    if missing := _missing(dialect):
        raise _broken(entry, f"it is no dialect, it lacks {', '.join(missing)}")
    return dialect


def _missing(dialect: Dialect) -> list[str]:
    return [name for name in _MEMBERS if not hasattr(dialect, name)]


def _origin(dialect: Dialect) -> tuple[str, str]:
    """Where the class was written: a file that is loaded again makes another class of it."""
    kind = type(dialect)
    module = sys.modules.get(kind.__module__)
    return getattr(module, "__file__", None) or kind.__module__, kind.__qualname__


def _broken(entry: EntryPoint, why: str) -> BrokenDialectError:
    package = entry.dist.name if entry.dist else "an unknown package"
    return BrokenDialectError(
        f"the dialect {entry.name!r} cannot be used: {why}\n"
        f"  announced by {package} as {entry.group} = {entry.value!r}\n"
        f"  mend or uninstall that package (its authors can run flowproof_addons.testing.check)"
    )
