"""`agent.home`, `agent.workspace` and `agent.clock` as they are written."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from flowproof_runner.spec.file import LoadedSpec
from flowproof_runner.spec.habitat import Clock, Home, Workspace

type Load = Callable[..., LoadedSpec]
type Wrong = Callable[..., list[str]]


@pytest.mark.parametrize(
    ("written", "home"),
    [
        ("isolated", Home()),
        ("user", Home(mode="user")),
        ("{ files: { .x/y.json: '{}' } }", Home(files={".x/y.json": "{}"})),
    ],
)
def test_a_home_in_short_and_in_full(spec: Load, written: str, home: Home) -> None:
    assert spec(f"agent: {{command: run, home: {written}}}\n").spec.agent.home == home


def test_a_workspace_in_short_and_in_full(spec: Load) -> None:
    short = spec("agent: {command: run, workspace: fixture}\n").spec.agent.workspace
    full = spec("agent: {command: run, workspace: {from: fixture, git: true}}\n").spec.agent.workspace
    assert short == Workspace.model_validate({"from": "fixture"})
    assert full == Workspace.model_validate({"from": "fixture", "git": True})


def test_a_clock_in_short_and_in_full(spec: Load) -> None:
    short = spec("agent: {command: run, clock: 2026-01-01T00:00:00Z}\n").spec.agent.clock
    full = spec("agent: {command: run, clock: {at: 2026-01-01T00:00:00+02:00, moves: true}}\n").spec.agent.clock
    assert short == Clock(at="2026-01-01T00:00:00Z")
    assert full == Clock(at="2026-01-01T00:00:00+02:00", moves=True)


@pytest.mark.parametrize(
    ("agent", "said"),
    [
        ("command: run, home: elsewhere", "accepted: 'isolated' or 'user'"),
        ("command: run, home: {files: {/etc/passwd: x}}", "does not lie in the home directory"),
        ("command: run, home: {files: {a/../../b: x}}", "does not lie in the home directory"),
        ("command: run, home: {seeds: x}", "unknown key; accepted: mode, from, files"),
        ("command: run, workspace: {git: yes please}", "git"),
        ("command: run, workspace: w, cwd: .", "does not go with workspace"),
        ("command: run, clock: 2026-01-01", "is no time with a zone"),
        ("command: run, clock: 2026-01-01T00:00:00", "is no time with a zone"),
        ("command: run, clock: soon", "is no time with a zone"),
        ("url: 'http://127.0.0.1:1', proxy_port: 2, home: isolated", "accepted with command and adapter"),
        ("url: 'http://127.0.0.1:1', proxy_port: 2, workspace: w", "accepted with command and adapter"),
        ("url: 'http://127.0.0.1:1', proxy_port: 2, clock: 2026-01-01T00:00:00Z", "accepted with command and adapter"),
    ],
)
def test_what_cannot_be_meant_is_refused(wrong: Wrong, agent: str, said: str) -> None:
    problems = wrong(f"agent: {{{agent}}}\n")
    assert any(said in problem for problem in problems), problems


def test_an_unknown_client_is_refused_with_the_known_ones(wrong: Wrong) -> None:
    (problem,) = wrong("client: codec\n")
    assert "no client is called 'codec'; accepted: aider, " in problem
    assert "codex" in problem
