"""One flow from end to end: open a session, run the agent, judge what crossed, keep the recording if all holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import Protocol

from flowproof_addons import FlowproofError
from flowproof_addons.session import Session, Upstream
from flowproof_addons.trace import file
from flowproof_addons.trace.model import JsonValue, Phase, Trace
from flowproof_runner.boundary import upstream
from flowproof_runner.boundary.outcome import Outcome
from flowproof_runner.containment.spawner import ContainedSpawner
from flowproof_runner.contract.of_spec import contract_of
from flowproof_runner.drivers.base import Addresses, Driver, DriverResult, Task
from flowproof_runner.drivers.dialogue import Dialogue, Script, Settling, Source
from flowproof_runner.drivers.handles import handles
from flowproof_runner.drivers.spawn import Plain
from flowproof_runner.flow import cassette, containing, judging, plan
from flowproof_runner.flow.draft import Draft, skipped
from flowproof_runner.flow.left_file import LeftFile
from flowproof_runner.flow.plan import Surroundings
from flowproof_runner.flow.tally import tally
from flowproof_runner.habitat import of_spec
from flowproof_runner.habitat.habitat import settled
from flowproof_runner.program.version import version
from flowproof_runner.result import FlowResult
from flowproof_runner.secrecy.scrub import Scrubber
from flowproof_runner.spec import resolve
from flowproof_runner.spec.file import LoadedSpec
from flowproof_runner.suite import ageing, extensions
from flowproof_runner.suite.file import Suite

PROPOSAL = "proposal.trace.json"
"""In a flow's run folder: the recording that would be the cassette."""


class OpenSession(Protocol):
    """One flow's side of the boundary."""

    diverged: Event
    """Set when the run can only fail."""

    @property
    def url(self) -> str:
        """Of the model API, without `/v1`."""
        ...

    @property
    def mcp_urls(self) -> Mapping[str, str]:
        """Per MCP server."""
        ...

    @property
    def mcp_servers(self) -> Mapping[str, str]:
        """Per MCP server, its stand-in's command."""
        ...

    def begin(self, user_turn: int) -> None:
        """Of a conversation: what arrives from now on belongs to this user turn."""
        ...

    def settling(self, user_turn: int) -> Settling | None:
        """Of a conversation: how this user turn came to rest; None while the agent is at work on it."""
        ...

    def arrived(self) -> int:
        """How many model requests have arrived by now."""
        ...

    def close(self) -> Outcome:
        """End it: what crossed and what was found."""
        ...


class Boundary(Protocol):
    """Opens sessions."""

    def load(self, addon: Path) -> None:
        """Let a user's addon file in. Raises FlowproofError if it cannot be loaded."""
        ...

    def open(self, session: Session) -> OpenSession:
        """Begin one. Raises FlowproofError if it cannot be served."""
        ...


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Flows:
    """Runs flows over one boundary; safe to use from several threads."""

    boundary: Boundary
    around: Surroundings
    cancelled: Event = field(default_factory=Event)
    now: Callable[[], datetime] = _now
    proposing: bool = False
    """Recordings are put into their run folders as proposals; cassettes stay as they are."""
    typed: Source | None = None
    """Where the user turns of a conversation come from that no spec holds yet."""

    def within(self, suite: Suite) -> Flows:
        """The same for the flows of one suite, its addons let in.

        Raises SpecError if its `env` cannot be filled in, ExtensionError if an addon cannot be loaded.
        """
        extensions.admit(suite, self.boundary)
        return replace(self, around=self.around.within(suite))

    def run(self, spec: LoadedSpec, phase: Phase, folder: Path) -> FlowResult:
        """Record or replay one flow. What the user can mend becomes a finding of kind `problem`, never an exception."""
        unset = [name for name in spec.spec.skip_unless_env if not self.around.shell.get(name)]
        if unset:
            reason = f"{', '.join(unset)} {'is' if len(unset) == 1 else 'are'} not set"
            return skipped(spec.path, spec.spec.name, phase, reason)
        scrubber = Scrubber(plan.secrets(spec, self.around))
        draft = Draft(spec, phase, folder, plan.directory(spec, self.around), self.around.start, scrubber)
        try:
            draft.resolved = resolve.resolved(spec, self.around.shell, phase)
            draft.contract = contract_of(draft.resolved)
            draft.add(plan.hooks(spec, "before_each", self.around).run(folder))
            if not draft.failed:
                self._settled(draft)
        except FlowproofError as error:
            draft.problem(error, str(spec.path))
        draft.add(plan.hooks(spec, "after_each", self.around).run(folder))
        return draft.result()

    def _settled(self, draft: Draft) -> None:
        """Run and judge the agent in the surroundings its spec asks for."""
        with settled(of_spec.wanted(draft.resolved), draft.directory, self.around.shell) as habitat:
            draft.settle(habitat)
            draft.notes += of_spec.notes(draft.resolved)
            self._record(draft) if draft.phase == "record" else self._replay(draft)

    def _record(self, draft: Draft) -> None:
        draft.notes += resolve.unhidden(draft.spec, self.around.shell)
        outcome = self._agent(draft, self._upstreams(draft))
        trace = self._trace(draft, outcome)
        draft.counts = tally(trace.exchanges, self.around.registry, None)
        self._keep(draft, trace)
        judging.judge(draft, outcome, trace, self.around.registry)
        if not draft.failed:
            draft.cassette = draft.folder / PROPOSAL if self.proposing else cassette.path_of(draft.spec.path)
            file.save(draft.cassette, trace)

    def _replay(self, draft: Draft) -> None:
        recorded = cassette.load(draft.spec)
        cassette.refuse_foreign(draft.spec, recorded, self.around.registry)
        draft.cassette = cassette.path_of(draft.spec.path)
        draft.notes += cassette.notes(draft.spec, recorded)
        outcome = self._agent(draft, {})
        trace = self._trace(draft, outcome)
        draft.counts = tally(trace.exchanges, self.around.registry, recorded.exchanges)
        self._keep(draft, trace)
        judging.judge(draft, outcome, trace, self.around.registry, recorded)
        self._aged(draft, recorded)

    def _aged(self, draft: Draft, recorded: Trace) -> None:
        suite, now = self.around.suite, self.now()
        draft.notes += tuple(ageing.noted(suite.max_age, recorded, now))
        draft.add(ageing.failing(suite.max_age, recorded, now, str(draft.spec.path), suite.where("max_age")))

    def _agent(self, draft: Draft, upstreams: Mapping[str, Upstream]) -> Outcome:
        """Run the agent behind an open session; how it ended goes into the draft."""
        spec = draft.resolved
        source = self.typed or (Script(spec.user_turns) if spec.user_turns else None)
        talk = source is not None
        session = plan.opening(draft, cassette.path_of(spec.path), self.around, upstreams, talk=talk)
        contained = self._containment(draft)
        driver = plan.driver(draft, self.around, contained or Plain())
        opened = self.boundary.open(session)
        try:
            self._drive(draft, driver, opened, source)
        finally:
            outcome = opened.close()
        self._ended(draft, contained)
        return outcome

    def _drive(self, draft: Draft, driver: Driver, opened: OpenSession, source: Source | None) -> None:
        """Start the agent and wait for its end."""
        agent = draft.resolved.spec.agent
        draft.dialogue = dialogue = Dialogue(source, opened) if source is not None else None
        task = Task(
            prompt=draft.resolved.task if dialogue is None else dialogue.first(),
            folder=draft.folder,
            addresses=Addresses(opened.url, opened.mcp_urls, opened.mcp_servers),
            timeout_s=agent.timeout,
            diverged=opened.diverged,
            cancelled=self.cancelled,
            places=draft.habitat.places,
            dialogue=dialogue,
            arrived=opened.arrived,
        )
        draft.habitat.furnish(handles(task.prompt, task.addresses, draft.folder, task.places))
        left = LeftFile.awaited(agent.output, draft.directory)
        draft.agent = driver.run(task)
        _take(left, draft, draft.agent)

    def _ended(self, draft: Draft, contained: ContainedSpawner | None) -> None:
        """What is known once the agent has ended, and nothing of it that nobody may read."""
        assert draft.agent is not None
        draft.contained = contained.report if contained else containing.unasked(draft.resolved)
        draft.notes += (*draft.agent.notes, *containing.notes(draft.spec, draft.contained))
        containing.say_observed(draft.contained)
        for path in (draft.agent.stdout, draft.agent.stderr):
            if path is not None:
                draft.scrubber.file(path)

    def _upstreams(self, draft: Draft) -> Mapping[str, Upstream]:
        """Where model requests go. An adapter may have no model behind it; if it has one after all, that fails then."""
        try:
            return upstream.upstreams(self.around.shell, self.around.registry)
        except upstream.UpstreamError:
            if draft.resolved.spec.agent.driver != "adapter":
                raise
            return {}

    def _containment(self, draft: Draft) -> ContainedSpawner | None:
        asked = containing.wanted(draft.spec, draft.resolved)
        if not asked.engaged or draft.resolved.spec.agent.driver != "command":
            return None
        return ContainedSpawner(asked.policy(), draft.folder)

    def _keep(self, draft: Draft, trace: Trace) -> None:
        """The run's own trace: what `flowproof show` reads."""
        draft.trace = draft.folder / "trace.json"
        file.save(draft.trace, trace)

    def _trace(self, draft: Draft, outcome: Outcome) -> Trace:
        spec = draft.spec
        return Trace(
            recorded_by=f"flowproof {version()}",
            recorded_at=self.now().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            spec=spec.digest,
            exchanges=outcome.exchanges,
            faulted=outcome.faulted,
            mcp={name: _lane(value) for name, value in outcome.lanes.items()},
            mocks=plan.mocks(spec),
            extra={**plan.extra(draft), **plan.said(draft, self.around)},
        )


def _take(left: LeftFile | None, draft: Draft, agent: DriverResult) -> None:
    """Keep the output that the agent left in a file."""
    if left is not None:
        draft.agent = replace(agent, output=left.text())
        draft.notes += () if draft.agent.output is not None else (left.why_not(),)


def _lane(value: JsonValue) -> JsonValue:
    return value.get("lane") if isinstance(value, dict) else None
