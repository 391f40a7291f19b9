"""A conversation: user turns one after the other, each judged by what came of it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest
from tests.e2e.scenario import shell

from standin import script
from standin.server import StandIn

ROOT = Path(__file__).parents[2]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with the shipped conversation."""
    folder = tmp_path / "work"
    (folder / "examples" / "agents").mkdir(parents=True)
    shutil.copy(ROOT / "examples/agents/stdlib_chat.py", folder / "examples/agents")
    for suffix in ("flow.yaml", "trace.json"):
        shutil.copy(ROOT / f"specs/conversation.{suffix}", folder)
    return folder


def flowproof(command: str, folder: Path, **variables: str) -> tuple[int, list[tuple[str, int | None]]]:
    """Exit code, and the causes found with their user turns."""
    env = {**shell(folder.parent / "home"), **variables}
    env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}"
    done = subprocess.run(
        [str(Path(sys.executable).parent / "flowproof"), command, "conversation.flow.yaml", "--json"],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    [flow] = json.loads(done.stdout)["flows"]
    return done.returncode, [(f["id"], f.get("user_turn")) for f in flow["findings"] if f.get("caused_by") is None]


def change(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


@pytest.fixture
def upstream() -> Iterator[str]:
    """A model to record from."""
    server = StandIn(script.load())
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield server.url
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_recorded_conversation_replays(project: Path, upstream: str) -> None:
    (project / "conversation.trace.json").unlink()
    assert flowproof("record", project, FLOWPROOF_AGENT_UPSTREAM=upstream) == (0, [])
    assert flowproof("run", project) == (0, [])


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("for line in sys.stdin:", "for line in ():", ("conversation.ended-early", 1)),
        ('messages.append({"role": "user"', 'messages.append({"role": "system"', ("model.divergence", 1)),
        ('yield json.loads(line)["text"]', 'yield json.loads(line)["text"].upper()', ("model.divergence", 2)),
    ],
)
def test_an_agent_that_went_wrong_fails_in_the_user_turn_where_it_did(
    project: Path, old: str, new: str, found: tuple[str, int]
) -> None:
    change(project / "examples/agents/stdlib_chat.py", old, new)
    code, causes = flowproof("run", project)
    assert (code, causes[0]) == (1, found)


def test_assertions_see_their_own_user_turn_alone(project: Path) -> None:
    """The booking is made in user turn 2: asked for in 3, it is missing there, whatever came before."""
    change(
        project / "conversation.flow.yaml",
        "assert_no_tool_call: [search_flights, create_booking]",
        "assert_tool_call: create_booking",
    )
    code, causes = flowproof("run", project)
    assert code == 1
    assert [turn for _, turn in causes] == [3]
