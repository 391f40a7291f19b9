"""What `flowproof doctor` does, from its options to its exit code."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from flowproof_addons import FlowproofError
from flowproof_addons.dialects.registry import default
from flowproof_runner.boundary.client import Boundary
from flowproof_runner.boundary.process import BoundaryProcess
from flowproof_runner.containment import tier
from flowproof_runner.contract.of_spec import contract_of
from flowproof_runner.doctor.diagnosis import diagnose
from flowproof_runner.doctor.examination import examine
from flowproof_runner.doctor.patient import PROMPT, Patient, of_adapter, of_command, of_url
from flowproof_runner.doctor.report import render
from flowproof_runner.doctor.standin import standin
from flowproof_runner.flow import containing
from flowproof_runner.flow.plan import Surroundings, directory
from flowproof_runner.habitat import of_spec
from flowproof_runner.mcp.servers import servers
from flowproof_runner.reading import fields
from flowproof_runner.spec import resolve
from flowproof_runner.spec.file import load
from flowproof_runner.suite import extensions
from flowproof_runner.suite.file import Suites

_TIMEOUT_S = 60.0
_DURATION: TypeAdapter[float] = TypeAdapter(fields.Duration)
_COMMAND: TypeAdapter[tuple[str, ...]] = TypeAdapter(fields.Command)


class DoctorError(FlowproofError):
    """There is no agent to examine, or an option cannot be read."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the user asked for."""

    agent: str | None = None
    prompt: str | None = None
    timeout: str | None = None
    spec: Path | None = None
    once: bool = False


def doctor(options: Options) -> int:
    """Examine the agent and print what was found; the exit code."""
    patient, registry = _patient(options, dict(os.environ), Path.cwd()), default()
    with tempfile.TemporaryDirectory(prefix="flowproof-doctor-") as name:
        folder = Path(name)
        with BoundaryProcess(folder / "boundary") as process, Boundary(process) as boundary, standin(registry) as model:
            if options.spec is not None:
                extensions.admit(Suites().beside(options.spec), boundary)
            first = examine(patient, boundary, model, folder / "first", registry)
            again = None
            if not options.once and first.outcome.turns and first.agent.ending == "exited":
                again = examine(patient, boundary, model, folder / "second", registry)
    diagnosis = diagnose(patient, first, again, tier.probe() if patient.uncontained else "")
    print(render(diagnosis, registry), end="", flush=True)
    return diagnosis.exit


def _patient(options: Options, shell: Mapping[str, str], start: Path) -> Patient:
    timeout_s = _read(_DURATION, "--timeout", _seconds(options.timeout)) if options.timeout else None
    words = _read(_COMMAND, "--agent", options.agent) if options.agent else None
    if options.spec is None:
        if words is None:
            raise DoctorError('no agent to examine: give its command, --agent "python3 my_agent.py", or --spec FILE')
        return Patient(*of_command(words), start, shell, {}, options.prompt or PROMPT, timeout_s or _TIMEOUT_S)
    return _of_spec(options.spec, words, options.prompt, timeout_s, Surroundings(shell, start, default()))


def _of_spec(
    path: Path, words: tuple[str, ...] | None, prompt: str | None, timeout_s: float | None, around: Surroundings
) -> Patient:
    written = load(path)
    around = around.within(Suites().beside(path))
    spec = resolve.resolved(written, around.shell, "record")
    agent = spec.spec.agent
    contract = contract_of(spec)
    driven = "command" if words is not None else agent.driver
    if agent.url is not None and driven == "url":
        shown, drive = of_url(agent.url, agent.headers)
    elif driven == "adapter":
        shown, drive = of_adapter(spec.spec, contract)
    else:
        shown, drive = of_command(of_spec.words(spec, words or agent.command or ()))
    return Patient(
        shown,
        drive,
        directory(spec, around),
        around.shell,
        {**of_spec.variables(spec), **around.suite_env, **agent.env},
        prompt or spec.task,
        timeout_s or agent.timeout,
        servers(spec, contract),
        containing.wanted(written, spec).policy(),
        of_spec.wanted(spec),
        spec.spec.client,
        port=agent.proxy_port or 0,
        uncontained=tier.UNCONTAINED.get(driven, ""),
        adapter=driven == "adapter",
    )


def _seconds(text: str) -> str:
    """`--timeout 30` is thirty seconds."""
    return f"{text}s" if text.replace(".", "", 1).isdigit() else text


def _read[T](kind: TypeAdapter[T], option: str, text: str) -> T:
    try:
        return kind.validate_python(text)
    except ValidationError as error:
        raise DoctorError(f"{option} {text!r}: {'; '.join(each['msg'] for each in error.errors())}") from error
