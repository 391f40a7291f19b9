"""Running an agent once in front of the stand-in model, contained as far as this machine can."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from threading import Event

from flowproof_addons.dialects.base import Registry
from flowproof_addons.session import Session, Upstream
from flowproof_runner.boundary import upstream
from flowproof_runner.boundary.client import Boundary
from flowproof_runner.boundary.outcome import Outcome
from flowproof_runner.containment.report import ContainmentReport
from flowproof_runner.containment.spawner import ContainedSpawner
from flowproof_runner.doctor import via
from flowproof_runner.doctor.patient import Bench, Patient
from flowproof_runner.drivers.base import Addresses, DriverResult, Task
from flowproof_runner.drivers.handles import handles
from flowproof_runner.habitat.habitat import Habitat, settled


@dataclass(frozen=True, slots=True)
class Examination:
    """One run of the agent: what crossed the boundary, how it ended, where else it went."""

    outcome: Outcome
    agent: DriverResult
    contained: ContainmentReport
    clock_honoured: bool = True
    """False when the spec gives the agent a clock and no process of it goes by it."""


def examine(patient: Patient, boundary: Boundary, model: str, folder: Path, registry: Registry) -> Examination:
    """Run the agent against the model at this URL.

    Raises DriverError if it cannot be started, BoundaryError if the boundary cannot serve it.
    """
    folder.mkdir(parents=True)
    with settled(patient.wanted, patient.cwd, patient.shell) as habitat:
        return _examine(patient, habitat, boundary, model, folder, registry)


def _examine(
    patient: Patient, habitat: Habitat, boundary: Boundary, model: str, folder: Path, registry: Registry
) -> Examination:
    opened = boundary.open(
        Session(
            id=folder.name,
            phase="record",
            folder=folder,
            port=patient.port,
            upstreams={upstream.ANY: Upstream(url=model)},
            mcp=patient.mcp,
            secrets=upstream.secrets(patient.shell, registry),
            own_directory=str(habitat.directory),
            agent_cwd=str(habitat.directory),
        )
    )
    spawner = ContainedSpawner(patient.policy, folder)
    try:
        shell = habitat.shell(patient.shell)
        env = habitat.overrides(shell, {**via.variables(opened.url), **patient.env})
        driver = patient.drive(Bench(habitat.directory, shell, env, upstream.key_variables(registry), spawner))
        addresses = Addresses(via.handle_url(opened.url), opened.mcp_urls, opened.mcp_servers)
        habitat.furnish(handles(patient.prompt, addresses, folder, habitat.places))
        # A divergence cannot happen while recording; what else sets this event must not cut the examination short.
        task = Task(patient.prompt, folder, addresses, patient.timeout_s, Event(), Event(), habitat.places)
        agent = driver.run(task)
    finally:
        outcome = opened.close()
    contained = ContainmentReport(patient.uncontained) if patient.uncontained else spawner.report
    return Examination(outcome, agent, contained, habitat.clock is None or habitat.clock.honoured)
