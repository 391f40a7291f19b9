"""A conversation: user turns one after the other, each judged by what came of it."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest
from tests.e2e.scenario import Scenario, shell
from tests.e2e.upstream import Answer, Seen, Upstream, reply

from flowproof_addons.trace import file
from flowproof_runner.spec.file import digest
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


def flowproof(
    command: str, folder: Path, spec: str = "conversation.flow.yaml", **variables: str
) -> tuple[int, list[tuple[str, int | None]]]:
    """Exit code, and the causes found with their user turns."""
    env = {**shell(folder.parent / "home"), **variables}
    env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}"
    done = subprocess.run(
        [str(Path(sys.executable).parent / "flowproof"), command, spec, "--json"],
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


def typed(folder: Path, text: str, upstream: str, spec: str = "typed.flow.yaml") -> subprocess.CompletedProcess[str]:
    """`flowproof record --interactive` with this on its stdin."""
    return subprocess.run(
        [str(Path(sys.executable).parent / "flowproof"), "record", spec, "--interactive"],
        cwd=folder,
        env={**shell(folder.parent / "home"), "FLOWPROOF_AGENT_UPSTREAM": upstream},
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_conversation_is_authored_by_having_it(project: Path, upstream: str) -> None:
    """What was typed is the spec's conversation, what came of it is shown, and the cassette replays."""
    spec, cassette = project / "typed.flow.yaml", project / "typed.trace.json"
    command = f"{sys.executable} examples/agents/stdlib_chat.py"
    unfinished = f"name: Typed\napp: agent\nagent:\n  command: {command}\nsteps:\n  - assert_no_tool_call: pay\n"
    spec.write_text(unfinished)

    assert typed(project, "\n", upstream).returncode == 2  # nothing was said
    assert (spec.read_text(), cassette.exists()) == (unfinished, False)

    done = typed(project, "Which flights go to Nairobi tomorrow?\nBook it for Ada Okello\n\nnever read", upstream)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[1:8] == [
        "user 1> ",
        '  calls search_flights {"destination":"NBO"}',
        "agent> KQ311 leaves for Nairobi at nine. Shall I book it?",
        "user 2> ",
        '  calls create_booking {"flight":{"id":"KQ311"},"passengers":[{"name":"Ada Okello"}]}',
        "agent> Your flight KQ311 to Nairobi is booked.",
        "user 3> ",
    ]
    assert spec.read_text().endswith(
        "conversation:\n"
        "  - user: Which flights go to Nairobi tomorrow?\n    assert_tool_call: search_flights\n"
        "  - user: Book it for Ada Okello\n    assert_tool_call: create_booking\n"
        "steps:\n  - assert_no_tool_call: pay\n"
    )
    assert file.load(cassette).spec == digest(spec.read_text())  # else each run would say that the spec was edited
    assert flowproof("run", project, spec="typed.flow.yaml") == (0, [])
    assert typed(project, "Hello\n\n", upstream).returncode == 2  # it has its conversation


def test_what_was_typed_is_kept_where_the_flow_fails(project: Path, upstream: str) -> None:
    change(project / "examples/agents/stdlib_chat.py", "for line in sys.stdin:", "for line in ():")
    spec = project / "typed.flow.yaml"
    command = f"{sys.executable} examples/agents/stdlib_chat.py"
    spec.write_text(f"name: T\napp: agent\nagent:\n  command: {command}\nsteps:\n  - assert_tool_call: pay\n")
    before = spec.read_text()
    done = typed(project, "Which flights go to Nairobi tomorrow?\nBook it\n\n", upstream)
    assert (done.returncode, spec.read_text()) == (1, before), done.stdout
    assert "the agent ended after user turn 1" in done.stdout
    [kept] = project.glob(".flowproof/runs/2*/01-typed/conversation.yaml")
    assert "user: Which flights go to Nairobi tomorrow?" in kept.read_text()
    assert f"is in {kept}" in done.stdout


def test_an_interrupted_conversation_leaves_nothing(project: Path, upstream: str) -> None:
    spec = project / "typed.flow.yaml"
    spec.write_text(f"name: T\napp: agent\nagent:\n  command: {sys.executable} examples/agents/stdlib_chat.py\n")
    environment = {**shell(project.parent / "home"), "FLOWPROOF_AGENT_UPSTREAM": upstream}
    started = Scenario(project, spec, environment, subprocess.PIPE).start("record", spec.name, "--interactive")
    assert started.process.stdin is not None and started.process.stdout is not None
    started.process.stdin.write("Which flights go to Nairobi tomorrow?\n")
    started.process.stdin.flush()
    while not started.process.stdout.readline().startswith("agent> "):
        assert started.process.poll() is None
    started.interrupt()
    outcome = started.finish()
    assert (outcome.code, outcome.left) == (130, ()), outcome.said
    assert not (project / "typed.trace.json").exists()


def test_a_service_is_led_through_a_conversation(tmp_path: Path, upstream: str) -> None:
    """One POST for each user turn, recordings matched within theirs; a service that forgets diverges in the second."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    remembered: dict[str, list[dict[str, str]]] = {}
    forgets = False

    def service(seen: Seen) -> Answer:
        body = seen.json
        messages = [] if forgets else remembered.setdefault(body["conversation"], [])
        messages.append({"role": "user", "content": body["prompt"]})
        line = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        asked = json.dumps({"model": "gpt-5-mini", "messages": messages})
        line.request("POST", "/v1/chat/completions", asked, {"content-type": "application/json"})
        answer = json.loads(line.getresponse().read())
        line.close()
        if "choices" in answer:
            messages.append({"role": "assistant", "content": answer["choices"][0]["message"]["content"]})
        return reply({})

    folder = tmp_path / "work"
    folder.mkdir()
    with Upstream(service) as agent:
        (folder / "conversation.flow.yaml").write_text(
            f"name: Service\napp: agent\nagent: {{ url: '{agent.url}/chat', proxy_port: {port} }}\nconversation:\n"
            "  - user: Hi\n    assert: reply contains Hello\n"
            "  - user: Hi\n    assert: reply contains Hello\n"
        )
        assert flowproof("record", folder, FLOWPROOF_AGENT_UPSTREAM=upstream) == (0, [])
        assert flowproof("run", folder) == (0, [])
        assert len(remembered) == 2  # an id for each run
        forgets = True
        code, causes = flowproof("run", folder)
        assert (code, causes[0]) == (1, ("model.divergence", 2))
