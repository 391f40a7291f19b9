"""The cassette beside a spec: where it is, whether it may be replayed, how it is written."""

from __future__ import annotations

from pathlib import Path

from flowproof_addons import FlowproofError
from flowproof_addons.dialects.base import Registry
from flowproof_addons.trace import file
from flowproof_addons.trace.model import Trace
from flowproof_runner.flow import conversation, faults, plan
from flowproof_runner.spec.file import SUFFIXES, LoadedSpec


class CassetteError(FlowproofError):
    """The cassette is missing or does not belong to the spec as it is now."""


def path_of(spec: Path) -> Path:
    """`booking.flow.yaml` -> `booking.trace.json` beside it."""
    suffix = next((suffix for suffix in SUFFIXES if spec.name.endswith(suffix)), spec.suffix)
    return spec.with_name(f"{spec.name.removesuffix(suffix)}.trace.json")


def load(spec: LoadedSpec) -> Trace:
    """The spec's cassette.

    Raises CassetteError if there is none, or if `tools:` results or the number of user turns were edited since;
    FlowproofError if it cannot be read.
    """
    path = path_of(spec.path)
    if not path.exists():
        raise CassetteError(f"no cassette {str(path)!r}: record it first: flowproof record {spec.path}")
    trace = file.load(path)
    if trace.mocks != plan.mocks(spec):
        raise CassetteError(
            f"{spec.document.where(('tools',))}: the results under tools: are not those {path.name} was recorded with:"
            f" record again: flowproof record {spec.path}"
        )
    if unlike := conversation.unlike(spec, trace):
        raise CassetteError(
            f"{spec.document.where(('conversation',))}: {path.name} {unlike}: record again: flowproof record"
            f" {spec.path}"
        )
    recorded = trace.extra.get(faults.RECORDED)
    if recorded is not None and recorded != faults.kept(spec.spec):
        raise CassetteError(
            f"{spec.document.where(('faults',)) or spec.path}: {path.name} was recorded under other faults than the"
            f" spec has now: record again: flowproof record {spec.path}"
        )
    return trace


def refuse_foreign(spec: LoadedSpec, trace: Trace, registry: Registry) -> None:
    """Raises CassetteError if it holds turns of an API that nothing here knows: they could not be told from others."""
    for name in dict.fromkeys(turn.dialect for turn in trace.turns):
        if name is not None and registry.named(name) is None:
            raise CassetteError(
                f"{path_of(spec.path)}: was recorded with the dialect {name!r}, which is not here: install the package"
                " that brings it, or name its file under `addons:` in suite.yaml"
            )


def notes(spec: LoadedSpec, trace: Trace) -> tuple[str, ...]:
    """What a reader should know about the cassette that is replayed."""
    if trace.spec and trace.spec != spec.digest:
        return (
            "the spec was edited after its cassette was recorded; the recording is judged by the spec as it is now",
        )
    return ()
