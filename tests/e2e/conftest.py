"""Fixtures of the end-to-end tests: the real CLI, real agents, scripted upstreams."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.e2e import brain
from tests.e2e.scenario import HERE, Scenario, python, shell, spec
from tests.e2e.upstream import Upstream

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # a shell's background job: what we start would ignore the interrupts whose effect is tested
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    """A model server that answers as `brain` does until the test says otherwise."""
    with Upstream(brain.answer) as server:
        yield server
    assert server.missed == []


@pytest.fixture
def scenario(tmp_path: Path, upstream: Upstream) -> Callable[..., Scenario]:
    """A new scenario whose recordings come from `upstream`."""

    def make(agent: Any, *args: Any, name: str = "flow", **parts: Any) -> Scenario:
        folder = tmp_path / "work"
        folder.mkdir(exist_ok=True)
        file = folder / f"{name}.flow.yaml"
        file.write_text(yaml.safe_dump(spec(agent, *args, **parts), sort_keys=False, allow_unicode=True))
        return Scenario(folder, file, shell(tmp_path / "home", FLOWPROOF_AGENT_UPSTREAM=upstream.url))

    return make


@pytest.fixture
def planned(scenario: Callable[..., Scenario]) -> Callable[..., Scenario]:
    """A new scenario whose agent sends the given requests; see `agents/plan.py`."""

    def make(requests: Sequence[Any], *args: Any, name: str = "flow", **parts: Any) -> Scenario:
        flow = scenario(python("plan.py", f"{name}.json"), *args, name=name, **parts)
        (flow.folder / f"{name}.json").write_text(json.dumps(requests))
        return flow

    return make


@pytest.fixture(scope="session")
def cassettes() -> dict[str, bytes]:
    """What this worker has recorded already, by spec and plan."""
    return {}


@pytest.fixture
def once(cassettes: dict[str, bytes]) -> Callable[..., Scenario]:
    """The scenario with its cassette, recorded unless another test has done so from the same spec and plan."""

    def make(flow: Scenario, **shell: str) -> Scenario:
        plan = flow.folder / "flow.json"
        key = "\n".join((flow.spec.read_text(), plan.read_text() if plan.exists() else "", str(shell)))
        if key not in cassettes:
            recorded = flow.record(**shell)
            assert recorded.code == 0, recorded.said
            cassettes[key] = flow.cassette.read_bytes()
        flow.cassette.write_bytes(cassettes[key])
        return flow

    return make


@pytest.fixture(scope="session")
def node_modules() -> Path:
    """Where the npm packages are; a machine without them says what to do."""
    folder = HERE / "node" / "node_modules"
    if not folder.is_dir():
        pytest.skip("the Node packages are not installed: npm ci --prefix tests/e2e/node")
    return folder
