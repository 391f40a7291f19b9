"""The surroundings a spec asks for, itself or by naming its client."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from flowproof_runner.habitat.habitat import Wanted
from flowproof_runner.spec.clients.profile import client_of
from flowproof_runner.spec.file import SUFFIXES, LoadedSpec


def wanted(spec: LoadedSpec) -> Wanted:
    """What a (resolved) spec asks for; a service that runs already has its surroundings."""
    agent, client = spec.spec.agent, client_of(spec.spec)
    home = client.home(agent.home) if client is not None and agent.driver != "url" else agent.home
    name = next((spec.path.name.removesuffix(end) for end in SUFFIXES if spec.path.name.endswith(end)), spec.path.stem)
    return Wanted(name, spec.path.parent, home, agent.workspace, agent.clock)


def words(spec: LoadedSpec, words: Sequence[str]) -> tuple[str, ...]:
    """An agent's command, with what its client's profile adds."""
    client = client_of(spec.spec)
    return client.started(words) if client else tuple(words)


def variables(spec: LoadedSpec) -> dict[str, str]:
    """What its client's profile sets, handles not yet filled."""
    client = client_of(spec.spec)
    return dict(client.profile.env) if client else {}


def notes(spec: LoadedSpec) -> Iterator[str]:
    """What of a client's profile does not reach the agent."""
    client, agent = client_of(spec.spec), spec.spec.agent
    if client is None:
        return
    name, profile = client.name, client.profile
    if agent.driver == "url":
        yield f"client {name}: of its profile only the pins hold; the service at agent.url is started by you"
        return
    if agent.home is not None and agent.home.mode == "user" and profile.files:
        yield f"client {name}: its files are not written into your own home: {', '.join(profile.files)}"
    command = agent.command or agent.adapter or ()
    if profile.arguments and profile.arguments[0] not in command and not client.starts(command):
        yield (
            f"client {name}: {' '.join(profile.arguments)} was not added: agent.command does not name"
            f" {' or '.join(profile.programs)}; pass it on to the client"
        )
