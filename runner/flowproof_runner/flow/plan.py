"""A checked and resolved spec as the values the other parts take: the agent's driver and the boundary's session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from flowproof_addons.dialects.base import Registry
from flowproof_addons.session import Conversation, Pin, Session, Upstream
from flowproof_addons.trace.model import JsonValue
from flowproof_addons.trace.redact import Redactor
from flowproof_runner.boundary import upstream
from flowproof_runner.drivers.base import Driver
from flowproof_runner.drivers.spawn import Spawner
from flowproof_runner.flow import faults
from flowproof_runner.flow.draft import Draft
from flowproof_runner.habitat import of_spec
from flowproof_runner.mcp.servers import servers
from flowproof_runner.spec import resolve, session
from flowproof_runner.spec.clients.profile import pins_of
from flowproof_runner.spec.file import LoadedSpec
from flowproof_runner.suite.file import Suite
from flowproof_runner.suite.hooks import Hooks

OWN_FOLDER = Pin(kind="path", name="the run's own home and workspace", why="they were elsewhere when it was recorded")
"""Holds without being asked for where a spec gives the agent a home or a workspace of the run."""


KEPT = "conversation"
"""The member of a trace that holds what the user of a conversation said."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a flow takes from the invocation it is part of."""

    shell: Mapping[str, str] = field(repr=False)
    """The environment flowproof was started in."""
    start: Path
    """Where flowproof was started."""
    registry: Registry
    reorder: bool = False
    """At replay: parallel calls are served in the other order."""
    suite: Suite = field(default_factory=Suite)
    suite_env: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The suite's `env`, variables filled in, handles not yet."""

    def within(self, suite: Suite) -> Surroundings:
        """The same for a flow of this suite. Raises SpecError if a variable of its `env` is not set."""
        shell = {**suite.shell, **self.shell}
        env = suite.filled(shell)
        return replace(self, shell={**shell, **env}, suite=suite, suite_env=env)


def directory(spec: LoadedSpec, around: Surroundings) -> Path:
    """The agent's working directory, where it has no workspace."""
    cwd = spec.spec.agent.cwd
    return ((spec.path.parent / cwd) if cwd is not None else around.start).absolute()


def driver(draft: Draft, around: Surroundings, spawner: Spawner) -> Driver:
    """What runs the agent; imported only when used."""
    spec = draft.resolved
    agent = spec.spec.agent
    shell = draft.habitat.shell(around.shell)
    env = draft.habitat.overrides(shell, {**of_spec.variables(spec), **around.suite_env, **agent.env})
    if agent.adapter is not None:
        from flowproof_runner.contract.flow_adapter import driver as adapter

        return adapter(spec.spec, draft.contract, draft.directory, shell, env, upstream.key_variables(around.registry))
    if agent.url is not None:
        from flowproof_runner.drivers.url import Url

        return Url(agent.url, agent.headers)
    from flowproof_runner.drivers.command import Command

    return Command(
        words=of_spec.words(spec, agent.command or ()),
        cwd=draft.directory,
        shell=shell,
        env=env,
        key_variables=upstream.key_variables(around.registry),
        spawner=spawner,
        stdin=agent.stdin,
    )


def secrets(spec: LoadedSpec, around: Surroundings) -> dict[str, str]:
    """Name to value of all that may not reach the disk: the upstream's keys and what the spec names."""
    return upstream.secrets(around.shell, around.registry) | resolve.secrets(spec, around.shell)


def opening(
    draft: Draft, cassette: Path, around: Surroundings, reached: Mapping[str, Upstream], *, talk: bool = False
) -> Session:
    """The boundary's session for one run. `reached`: the upstreams, at record. `talk`: it is a conversation."""
    spec, phase, folder = draft.resolved, draft.phase, draft.folder
    return Session(
        id=folder.name,
        phase=phase,
        folder=folder,
        cassette=cassette.absolute() if phase == "replay" else None,
        port=spec.spec.agent.proxy_port or 0,
        upstreams=dict(reached),
        pins=pins(draft),
        mocks=session.tool_mocks(spec.spec),
        mcp=servers(spec, draft.contract),
        keep_attempts=spec.spec.keep_attempts,
        faults=faults.of_model(spec.spec),
        mcp_faults=faults.of_mcp(spec.spec),
        secrets=secrets(spec, around),
        redact_keys=spec.spec.redact.keys,
        own_directory=str(draft.directory),
        habitat=str(draft.habitat.root or ""),
        reorder=around.reorder,
        clock=spec.spec.agent.clock.at if spec.spec.agent.clock else "",
        agent_cwd=str(draft.directory),
        conversation=Conversation(quiet_s=spec.spec.agent.quiet) if talk else None,
        websocket=spec.spec.agent.responses_websocket,
        spec=spec.digest,
    )


def mocks(spec: LoadedSpec) -> JsonValue:
    """The `tools:` results as a cassette keeps them, variables unresolved."""
    return [mock.model_dump(mode="json", exclude_defaults=True) for mock in session.tool_mocks(spec.spec)] or None


def pins(draft: Draft) -> tuple[Pin, ...]:
    """What may differ: the spec's pins, its client's, and the run's own folder where it has one."""
    entries = session.pins(pins_of(draft.resolved.spec))
    anywhere = any(pin.kind == "path" and not pin.at and not pin.match for pin in entries)
    return entries if anywhere or draft.habitat.root is None else (*entries, OWN_FOLDER)


def extra(draft: Draft) -> dict[str, JsonValue]:
    """What else a cassette needs: the directories a `path` pin maps. Else it would say where somebody works."""
    found: dict[str, JsonValue] = {faults.RECORDED: faults.kept(draft.spec.spec)} if draft.spec.spec.faults else {}
    if any(pin.kind == "path" for pin in session.pins(pins_of(draft.resolved.spec))):
        found["directory"] = str(draft.directory)
    if draft.habitat.root is not None:
        found["habitat"] = str(draft.habitat.root)
    return found


def said(draft: Draft, around: Surroundings) -> dict[str, JsonValue]:
    """What crossed the boundary only in part, secrets hidden: the user's texts, and all that an adapter asked for."""
    redactor = Redactor(secrets(draft.resolved, around), draft.resolved.spec.redact.keys)
    found: dict[str, JsonValue] = {}
    if draft.dialogue is not None:
        found[KEPT] = redactor.hide(list(draft.spec.user_turns or draft.dialogue.delivered))
    if draft.agent is not None and draft.agent.events:
        from flowproof_runner.contract.events01 import to_rows

        found["adapter"] = redactor.hide(to_rows(draft.agent.events))
    return found


def ports(spec: LoadedSpec) -> frozenset[int]:
    """The fixed ports the flow needs for itself."""
    fixed = (spec.spec.agent.proxy_port, *(server.port for server in spec.spec.mcp))
    return frozenset(port for port in fixed if port)


def hooks(spec: LoadedSpec, when: Literal["before_each", "after_each"], around: Surroundings) -> Hooks:
    """The suite's commands before or after a flow; they are given no upstream's key."""
    withheld = {upstream.KEY, *upstream.key_variables(around.registry)}
    return Hooks(
        when=when,
        commands=around.suite.before_each if when == "before_each" else around.suite.after_each,
        cwd=spec.path.parent.absolute(),
        environment={name: value for name, value in around.shell.items() if name not in withheld},
        where=around.suite.where(when),
    )
