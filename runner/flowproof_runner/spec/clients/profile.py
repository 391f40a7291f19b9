"""A client's profile: what of its requests may differ, and how it is started so that little does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import PurePath
from typing import Literal

from pydantic import Field

from flowproof_runner.reading.fields import Part, Text, Variable, Words
from flowproof_runner.reading.reader import read
from flowproof_runner.spec.clients.names import SUFFIX, names
from flowproof_runner.spec.habitat import Home
from flowproof_runner.spec.model import Spec
from flowproof_runner.spec.pins import PinEntry


class Profile(Part):
    """One client. Everything a spec says goes before it."""

    about: Words = Field(description="What the client is and which version this was measured with.")
    user_agents: tuple[Words, ...] = Field(default=(), description="How its User-Agent begins.")
    programs: tuple[Words, ...] = Field(default=(), description="Its command, or its package in a command's word.")
    arguments: tuple[Text, ...] = Field(default=(), description="Put behind its command.")
    home: Literal["isolated", "user"] = Field(default="isolated", description="Where it is at home.")
    files: dict[Words, Text] = Field(default_factory=dict, description="Written into its isolated home.")
    env: dict[Variable, Text] = Field(default_factory=dict, description="Set for it, below a spec's own.")
    pins: tuple[PinEntry, ...] = Field(default=(), description="What may differ between two runs of it.")
    limits: tuple[Words, ...] = Field(default=(), description="What cannot be replayed.")


@dataclass(frozen=True, slots=True)
class Client:
    """A profile under its name."""

    name: str
    profile: Profile

    @property
    def pins(self) -> tuple[PinEntry, ...]:
        """Its pins; each is called after the client, so that reports show where it comes from."""
        return tuple(pin.model_copy(update={"name": f"{self.name}: {pin.label}"}) for pin in self.profile.pins)

    def started(self, words: Sequence[str]) -> tuple[str, ...]:
        """A command with the profile's arguments, where it starts this client and does not have them already."""
        given, profile = tuple(words), self.profile
        if not profile.arguments or profile.arguments[0] in given or not self.starts(given):
            return given
        return (*given, *profile.arguments)

    def starts(self, words: Iterable[str]) -> bool:
        """True for a command that starts this client itself, not a program that does."""
        return any(_is(word, program) for word in words for program in self.profile.programs)

    def home(self, asked: Home | None) -> Home:
        """The agent's home: what the spec asks for, with the profile's files below its own."""
        if asked is None:
            asked = Home(mode=self.profile.home)
        return asked.model_copy(update={"files": {**self.profile.files, **asked.files}})


def client_of(spec: Spec) -> Client | None:
    """The client a spec names."""
    return named(spec.client) if spec.client else None


def pins_of(spec: Spec) -> tuple[PinEntry, ...]:
    """A spec's own pins, then its client's."""
    client = client_of(spec)
    return (*spec.pins, *(client.pins if client else ()))


@cache
def named(name: str) -> Client:
    """The client with this name; raises KeyError for one that is not known."""
    if name not in names():
        raise KeyError(name)
    file = files(__package__) / f"{name}{SUFFIX}"
    return Client(name, Profile.model_validate(read(file.read_text(encoding="utf-8"), file.name).root))


def recognised(user_agent: str) -> Client | None:
    """The client that calls itself so; the one that says the longest beginning of it."""
    found = [
        (len(start), client)
        for client in map(named, names())
        for start in client.profile.user_agents
        if user_agent.startswith(start)
    ]
    return max(found, key=lambda pair: pair[0])[1] if found else None


def _is(word: str, program: str) -> bool:
    return program in word if "/" in program else PurePath(word).name == program
