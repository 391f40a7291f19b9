"""The CI files we ship are what their services accept, and their flowproof commands are ours."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from tests.e2e.ordinary import NOBODY, ordinary
from typer.core import TyperGroup

from flowproof_runner.cli import app
from flowproof_runner.init.files import WORKFLOW, init

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
CI = ROOT / "examples" / "ci"
BIN = Path(sys.executable).parent
DOCKERFILE = (CI / "container" / "Dockerfile").read_text()


def run(*command: str | Path, cwd: Path = ROOT, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(list(map(str, command)), cwd=cwd, env=env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("schema", "file", "more"),
    [
        ("github-workflows", "github.yml", ()),
        ("github-workflows", "heal.yml", ()),
        ("github-actions", "action/action.yml", ()),
        ("gitlab-ci", "gitlab-ci.yml", ("--data-transform", "gitlab-ci")),
    ],
)
def test_services_accept_our_files(schema: str, file: str, more: tuple[str, ...]) -> None:
    done = run(BIN / "check-jsonschema", "--builtin-schema", f"vendor.{schema}", *more, CI / file)
    assert done.returncode == 0, done.stdout


def test_a_linter_finds_nothing_in_the_dockerfile() -> None:
    done = run(BIN / "hadolint", CI / "container" / "Dockerfile")
    assert (done.returncode, done.stdout) == (0, "")


def test_init_writes_the_workflow_that_is_shipped(tmp_path: Path) -> None:
    init(tmp_path)
    assert (tmp_path / WORKFLOW).read_text() == (CI / "github.yml").read_text()


@pytest.mark.parametrize("file", ["github.yml", "heal.yml", "gitlab-ci.yml", "action/action.yml"])
def test_the_commands_are_ones_flowproof_has(file: str) -> None:
    root = typer.main.get_command(app)
    assert isinstance(root, TyperGroup)
    commands = re.findall(r"(?<![\w-])flowproof\"? ((?:run|heal) .*)", (CI / file).read_text())
    assert commands
    for command in commands:
        name, *given = shlex.split(command)
        found = root.get_command(root.context_class(root), name)
        assert found is not None
        found.make_context(name, given)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """What the Dockerfile copies to /app: a flow, its cassette and its agent."""
    flows = tmp_path / "project" / "flows"
    flows.mkdir(parents=True)
    for name in ("booking.flow.yaml", "booking.trace.json"):
        shutil.copy(ROOT / "specs" / name, flows)
    shutil.copytree(ROOT / "examples", flows.parent / "examples")
    return flows.parent


def container() -> tuple[list[str], dict[str, str]]:
    """What the Dockerfile runs, and with which variables of its own."""
    [default] = re.findall(r"^CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)
    [runs] = re.findall(r"^ENV FLOWPROOF_RUNS_DIR=(.*)$", DOCKERFILE, re.MULTILINE)
    return json.loads(default), {"PATH": os.environ["PATH"], "FLOWPROOF_RUNS_DIR": runs}


@pytest.mark.parametrize("home", [{}, {"HOME": "/nonexistent"}], ids=["no HOME", "no such home"])
def test_the_containers_command_needs_no_key_and_no_home_to_write(home: dict[str, str], project: Path) -> None:
    words, env = container()
    bare = {**env, **home, "FLOWPROOF_RUNS_DIR": str(project / "runs")}
    done = run(BIN / "flowproof", *words, cwd=project, env=bare)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "PASS" in done.stdout
    assert not Path("/nonexistent").exists()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can make such a container")
def test_it_replays_as_nobody_without_a_network_and_with_nothing_to_write_but_tmp(project: Path) -> None:
    """What `docker run --network none --read-only --tmpfs /tmp` gives it, made of namespaces."""
    words, env = container()
    inside = ordinary("--net", "sh", str(HERE / "container.sh"), str(project))
    tried = run(*inside, "sh", "-c", "touch /srv/x; touch /x; ip route; id -u", cwd=project, env=env)
    assert (tried.stdout, tried.stderr.count("Read-only file system")) == (f"{NOBODY}\n", 2), tried.stderr
    done = run(*inside, "sh", "-c", f"cd /srv && {shlex.join([str(BIN / 'flowproof'), *words])}", cwd=project, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout
