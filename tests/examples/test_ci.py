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
from typer.core import TyperGroup

from flowproof_runner.cli import app
from flowproof_runner.init.files import WORKFLOW, init

ROOT = Path(__file__).parents[2]
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


def test_the_containers_command_needs_no_key_and_no_home_to_write(tmp_path: Path) -> None:
    flows = tmp_path / "flows"
    flows.mkdir()
    for name in ("booking.flow.yaml", "booking.trace.json"):
        shutil.copy(ROOT / "specs" / name, flows)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    [default] = re.findall(r"^CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)
    [runs] = re.findall(r"^ENV FLOWPROOF_RUNS_DIR=(.*)$", DOCKERFILE, re.MULTILINE)
    assert runs.startswith("/tmp/")
    bare = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "FLOWPROOF_RUNS_DIR": str(tmp_path / "runs")}
    done = run(BIN / "flowproof", *json.loads(default), cwd=tmp_path, env=bare)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "PASS" in done.stdout
    assert not Path("/nonexistent").exists()
