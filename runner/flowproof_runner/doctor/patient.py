"""The agent a doctor examines, however it is driven."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from flowproof_addons.session import McpServer
from flowproof_runner.containment.policy import Policy
from flowproof_runner.drivers.base import Driver
from flowproof_runner.drivers.command import Command
from flowproof_runner.drivers.spawn import Spawner
from flowproof_runner.drivers.url import Url
from flowproof_runner.expectations.contract.model import Contract
from flowproof_runner.habitat.habitat import Wanted
from flowproof_runner.spec.model import Spec

PROMPT = "Say OK and nothing else."


@dataclass(frozen=True, slots=True)
class Bench:
    """What an agent is run with, once the boundary listens."""

    cwd: Path
    shell: Mapping[str, str] = field(repr=False)
    env: Mapping[str, str] = field(repr=False)
    key_variables: tuple[str, ...]
    spawner: Spawner


type Drive = Callable[[Bench], Driver]


@dataclass(frozen=True, slots=True)
class Patient:
    """The agent to examine."""

    shown: str
    """As one would type it."""
    drive: Drive
    cwd: Path
    shell: Mapping[str, str] = field(repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    prompt: str = PROMPT
    timeout_s: float = 60.0
    mcp: tuple[McpServer, ...] = ()
    policy: Policy = field(default_factory=Policy)
    """Where it may go besides: the spec's `agent.allow_egress`."""
    wanted: Wanted = field(default_factory=lambda: Wanted("doctor", Path()))
    """The home, workspace and clock its spec asks for."""
    client: str = ""
    """The profile its spec names."""
    port: int = 0
    """Where it expects its model; 0: it is told."""
    uncontained: str = ""
    """The tier of an agent that nothing can contain, with the reason."""
    adapter: bool = False
    """It speaks our protocol, and needs no model to be wired."""


def of_command(words: tuple[str, ...]) -> tuple[str, Drive]:
    """An agent that is a program, as it is shown and driven."""

    def drive(bench: Bench) -> Driver:
        return Command(words, bench.cwd, bench.shell, bench.env, bench.key_variables, bench.spawner)

    return shlex.join(words), drive


def of_url(url: str, headers: Mapping[str, str]) -> tuple[str, Drive]:
    """An agent that is a service which runs already."""
    return url, lambda bench: Url(url, headers)


def of_adapter(spec: Spec, contract: Contract) -> tuple[str, Drive]:
    """An agent that is an adapter; the spec's `tools:` and its servers answer it."""
    from flowproof_runner.contract.flow_adapter import driver

    def drive(bench: Bench) -> Driver:
        return driver(spec, contract, bench.cwd, bench.shell, bench.env, bench.key_variables)

    return shlex.join(spec.agent.adapter or ()), drive
