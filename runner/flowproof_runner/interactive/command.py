"""`flowproof record --interactive`: have a conversation with the agent, keep it as a spec's, and its cassette."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from flowproof_addons import FlowproofError
from flowproof_addons.dialects.registry import default
from flowproof_addons.trace import file
from flowproof_runner.boundary.client import Boundary
from flowproof_runner.boundary.process import BoundaryProcess
from flowproof_runner.flow import cassette
from flowproof_runner.flow.flows import Flows
from flowproof_runner.flow.plan import Surroundings
from flowproof_runner.interactive import proposed
from flowproof_runner.interactive.typist import Typist
from flowproof_runner.invocation.asked import Options, Start
from flowproof_runner.invocation.publish import Outlet
from flowproof_runner.invocation.running import summed
from flowproof_runner.program import streams, writing
from flowproof_runner.records import runs
from flowproof_runner.records.story import tell
from flowproof_runner.result import FlowResult
from flowproof_runner.spec.file import LoadedSpec, digest, load, text_of
from flowproof_runner.suite.file import Suites


class InteractiveError(FlowproofError):
    """There is nobody to talk to, or nothing was said."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """What a conversation leaves behind."""

    entries: Sequence[proposed.Entry]
    written: bool
    """Into the spec; else it is in the run folder alone."""
    draft: Path


def author(
    options: Options, start: Start, paths: Sequence[Path], folder: runs.RunFolder, process: BoundaryProcess
) -> int:
    """Do it; the exit code. Raises FlowproofError where it cannot be done."""
    spec = _unfinished(paths)
    print(f"{spec.path}: say something to the agent; an empty line ends the conversation", flush=True)
    typist = Typist(default())
    outlet = Outlet(start.shell, False, options.junit, options.html)
    with Boundary(process) as boundary:
        if not typist.begin():
            raise InteractiveError("nothing was said, so there is nothing to record")
        flows = Flows(boundary, Surroundings(start.shell, start.folder, default()), typed=typist)
        typist.folder = folder.flow(0, spec.path)
        result = flows.within(Suites().beside(spec.path)).run(spec, "record", typist.folder)
    kept = _keep(spec, typist, result)
    run = summed("record", (result,), folder, start, None)
    outlet.publish(run, folder.path)
    streams.tell("".join(f"{line}\n" for line in _told(spec, typist, kept)), sys.stdout)
    return run.exit_code


def _unfinished(paths: Sequence[Path]) -> LoadedSpec:
    """The spec to be completed. Raises InteractiveError if there is not exactly one, or it has its task."""
    if len(paths) != 1:
        raise InteractiveError("--interactive authors one conversation: name one spec, with `name`, `app` and `agent`")
    spec = load(paths[0], unfinished=True)
    if spec.task:
        at = spec.document.where(("conversation",) if spec.user_turns else ("steps",))
        raise InteractiveError(f"{at}: this spec says already what the user says: take that out, or name a new spec")
    if spec.spec.agent.driver == "adapter":
        raise InteractiveError(
            f"{spec.document.where(('agent',))}: an agent.adapter is given one task; a conversation needs an"
            " agent.command or an agent.url"
        )
    return spec


def _keep(spec: LoadedSpec, typist: Typist, result: FlowResult) -> _Kept:
    """Write the conversation into the spec if it was recorded, and beside the run's trace in any case."""
    assert typist.folder is not None
    draft, trace = typist.folder / "conversation.yaml", typist.folder / "trace.json"
    if not trace.exists():
        entries: list[proposed.Entry] = [{"user": text} for text in typist.said]
    else:
        entries = proposed.entries(typist.said, tell(file.load(trace), typist.registry).evidence)
    writing.write(draft, proposed.fragment(entries))
    if result.verdict != "pass":
        return _Kept(entries, False, draft)
    text = proposed.with_conversation(text_of(spec.path), spec.path, entries)
    writing.write(spec.path, text)
    path = cassette.path_of(spec.path)
    file.save(path, replace(file.load(path), spec=digest(text)))
    return _Kept(entries, True, draft)


def _told(spec: LoadedSpec, typist: Typist, kept: _Kept) -> list[str]:
    count = f"{len(kept.entries)} user turn{'' if len(kept.entries) == 1 else 's'}"
    lines = []
    if not typist.over:
        lines.append(
            f"the agent ended after user turn {len(typist.said)}; one that goes on reads its stdin until that ends:"
            " docs/conversations.md"
        )
    if not kept.written:
        return [*lines, f"{spec.path} was left as it is; what you typed ({count}) is in {kept.draft}"]
    return [
        *lines,
        f"{spec.path}: {count} written, with assertions that hold of this recording: read them, and say what matters",
        f"then: flowproof run {spec.path}",
    ]
