"""Containment as people meet it: through specs, verdicts, exit codes and reports of the real command line."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.scenario import Outcome, Scenario

type New = Callable[..., Scenario]

ASKS = """
import json, os, urllib.request
body = json.dumps({"model": "brain-1", "messages": [{"role": "user", "content": os.environ["FLOWPROOF_PROMPT"]}]})
request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body.encode(),
                                 {"content-type": "application/json", "authorization": "Bearer x"})
urllib.request.urlopen(request).read()
"""
REACHES = """
import socket
for _ in range(3):
    try:
        socket.create_connection(("192.0.2.1", 443), 2)
    except OSError as error:
        print(error)
"""
RESOLVES = (
    "\nimport socket\ntry:\n    socket.create_connection(('evil.flowproof.test', 443), 2)\nexcept OSError: pass\n"
)
DELETES = "\nimport os\nopen('kept.csv', 'x').close(); os.unlink('kept.csv')\n"
ENFORCED = ("enforced (linux seccomp+landlock)", "enforced (linux seccomp)")


@pytest.fixture(scope="module")
def recording() -> list[bytes]:
    """The cassette of the agent that only asks its model, once there is one."""
    return []


@pytest.fixture
def flow(contained_here: None, scenario: New, recording: list[bytes]) -> Callable[..., Scenario]:
    """A flow whose agent asks its model and then does something else; recorded without containment."""

    def make(then: str = "", *steps: Any, **agent: Any) -> Scenario:
        made = scenario([sys.executable, "agent.py"], ["assert: reply contains Told"])
        if not recording:
            (made.folder / "agent.py").write_text(ASKS)
            recorded = made.record()
            assert recorded.code == 0, recorded.said
            recording.append(made.cassette.read_bytes())
        made.cassette.write_bytes(recording[0])
        (made.folder / "agent.py").write_text(ASKS + then)
        spec_steps = [{"prompt": "How is Nairobi?"}, {"assert": "reply contains Told"}, *steps]
        made.change(steps=spec_steps, agent=agent)
        return made

    return make


def no_egress(flow: Callable[..., Scenario], then: str, **agent: Any) -> Outcome:
    return flow(then, "assert_no_egress", **agent).run()


def test_a_flow_that_stays_at_home_is_certified(flow: Callable[..., Scenario]) -> None:
    done = no_egress(flow, "")
    assert (done.code, done.ids) == (0, []), done.said
    assert done.flow.containment in ENFORCED


def test_one_that_reaches_out_fails_critically_with_who_and_how_often(flow: Callable[..., Scenario]) -> None:
    done = no_egress(flow, REACHES)
    assert (done.code, done.ids) == (3, ["egress.undeclared"]), done.said
    [found] = done.findings
    assert found.message == "the agent tried to reach 192.0.2.1:443 over tcp, which is not declared, 3 times"
    assert "python" in found.detail
    assert "Permission denied" in done.printed


def test_a_name_is_a_destination_too(flow: Callable[..., Scenario]) -> None:
    done = no_egress(flow, RESOLVES)
    assert (done.code, done.ids) == (3, ["egress.undeclared"]), done.said
    assert "evil.flowproof.test" in done.findings[0].message


def test_a_declared_destination_is_none_of_the_tests_business(flow: Callable[..., Scenario]) -> None:
    """Allowed, it is really tried, so it must be an address nothing answers: another loopback one."""
    done = no_egress(flow, REACHES.replace("192.0.2.1", "127.0.0.9"), allow_egress=["127.0.0.9:443"])
    assert (done.code, done.ids) == (0, []), done.said
    assert "refused" in done.printed


def test_an_address_of_a_variable_is_used_and_never_written(flow: Callable[..., Scenario]) -> None:
    made = flow(REACHES, "assert_no_egress", allow_egress=["${SERVICE}:443"])
    done = made.run(SERVICE="198.51.100.77")
    assert (done.code, done.ids) == (3, ["egress.undeclared"])
    written = "".join(path.read_text(errors="replace") for path in made.folder.rglob("*") if path.is_file())
    assert "198.51.100.77" not in written + done.said


def test_the_address_of_a_variable_is_not_told_when_another_of_its_ports_is_tried(
    flow: Callable[..., Scenario],
) -> None:
    made = flow(REACHES, "assert_no_egress", allow_egress=["${SERVICE}:1"])
    done = made.run(SERVICE="192.0.2.1")
    assert (done.code, done.ids) == (3, ["egress.undeclared"])
    assert "${SERVICE}:443 over tcp" in done.findings[0].message
    written = "".join(p.read_text(errors="replace") for p in (made.folder / ".flowproof").rglob("*") if p.is_file())
    assert "192.0.2.1" not in written + done.said


def test_a_wrong_entry_is_an_error_of_the_spec(flow: Callable[..., Scenario]) -> None:
    made = flow("", "assert_no_egress", allow_egress=["https://api.example.com", "*.example.com", "${SERVICE}:x"])
    for command in ("run", "check"):
        done = made.cli(command, made.spec.name, SERVICE="api.example.com")
        assert done.code == 2
        assert "'https://api.example.com': a URL" in done.said and "'*.example.com': a wildcard" in done.said
    made.change(agent={"allow_egress": ["${SERVICE}:x"]})
    done = made.run(SERVICE="api.example.com")
    assert done.code == 2 and "'${SERVICE}:x': a port is a number" in done.said
    assert "api.example.com" not in done.said


def test_a_declaration_alone_refuses_and_notes(flow: Callable[..., Scenario]) -> None:
    done = flow(REACHES, allow_egress=[]).run()
    assert (done.code, done.ids) == (0, []), done.said
    assert "refused: 192.0.2.1:443 over tcp, 3 times" in done.told and "assert_no_egress" in done.told


def test_recording_is_held_to_the_same_and_writes_nothing_after_a_violation(flow: Callable[..., Scenario]) -> None:
    made = flow(REACHES, "assert_no_egress")
    made.cassette.unlink()
    done = made.record()
    assert (done.code, done.ids) == (3, ["egress.undeclared"]), done.said
    assert not made.cassette.exists()


def uncontained(made: Scenario) -> dict[str, str]:
    """An environment in which flowproof finds no filter compiler."""
    folder = made.folder / "site"
    folder.mkdir()
    (folder / "pyseccomp.py").write_text("raise RuntimeError('Unable to find libseccomp')\n")
    return {"PYTHONPATH": str(folder)}


def test_what_cannot_be_contained_cannot_be_certified(flow: Callable[..., Scenario]) -> None:
    made = flow("", "assert_no_egress")
    done = made.run(**uncontained(made))
    assert (done.code, done.ids) == (2, ["egress.uncertified"]), done.said
    assert done.flow.containment.startswith("not contained (libseccomp missing")
    assert "cannot certify" in done.findings[0].message


WAITS_FOR_THE_END = "\nimport os, time\nopen('supervisor', 'w').write(f'{os.getppid()}.')\ntime.sleep(60)\n"


def test_a_run_whose_supervisor_is_killed_cannot_be_certified(flow: Callable[..., Scenario]) -> None:
    """Killed from outside: the agent, under Landlock, could not. It dies with it, and nothing of it is left."""
    made = flow(WAITS_FOR_THE_END, "assert_no_egress")
    started, told = made.start("run", made.spec.name), made.folder / "supervisor"
    deadline = time.monotonic() + 60
    while not (told.exists() and told.read_text().endswith(".")) and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(int(told.read_text()[:-1]), signal.SIGKILL)
    done = started.finish()
    assert (done.code, done.left) == (2, ()), done.said
    assert "egress.uncertified" in done.ids and "the supervisor ended early" in done.told


def test_a_declaration_alone_passes_uncontained_with_a_warning(flow: Callable[..., Scenario]) -> None:
    made = flow("", allow_egress=["api.example.com:443"])
    done = made.run(**uncontained(made))
    assert (done.code, done.ids) == (0, []), done.said
    assert "api.example.com:443" in done.told and "libseccomp missing" in done.told


def test_destroyed_files_are_told_on_stderr_and_stored_nowhere(flow: Callable[..., Scenario]) -> None:
    made = flow(DELETES, "assert_no_egress")
    done = made.run("--json")
    assert done.code == 0, done.said
    assert "filesystem observation: observed (linux seccomp); 1 destructive system call\n" in done.stderr
    assert f"unlink {made.folder / 'kept.csv'}" in done.stderr
    kept = "".join(p.read_text(errors="replace") for p in (made.folder / ".flowproof").rglob("*") if p.is_file())
    assert "kept.csv" not in kept + made.cassette.read_text()


def test_nothing_is_said_of_files_when_none_was_destroyed(flow: Callable[..., Scenario]) -> None:
    assert "filesystem observation" not in flow("", "assert_no_egress").run().said


WRITES = "\nimport os\nos.makedirs('out', exist_ok=True)\nopen('out/table.csv', 'a').write('x')\n"


LINKED = WRITES + "\nos.symlink('../kept.csv', 'out/link.csv')\nopen('out/link.csv', 'w').write('x')\n"


def fs_write(*allowed: str) -> dict[str, object]:
    return {"assert_no_side_effect": {"what": "fs_write", "except": list(allowed)}}


@pytest.mark.parametrize(
    ("then", "step", "code", "paths"),
    [
        ("", "assert_no_side_effect: fs_write", 0, []),
        (WRITES, "assert_no_side_effect: fs_write", 1, ["out", "out/table.csv"]),
        (WRITES, fs_write("out/*.csv"), 1, ["out"]),
        (WRITES, fs_write("out", "out/**"), 0, []),
        (DELETES, "assert_no_side_effect: fs_write", 1, ["kept.csv"]),
        (LINKED, fs_write("out", "out/**"), 1, ["kept.csv"]),
    ],
    ids=["nothing", "written", "half excepted", "excepted", "deleted", "through a link"],
)
def test_every_write_that_is_not_excepted_fails_the_flow(
    flow: Callable[..., Scenario], then: str, step: Any, code: int, paths: list[str]
) -> None:
    made = flow(then, {"assert_no_side_effect": "fs_write"} if isinstance(step, str) else step)
    done = made.run()
    assert done.code == code, done.said
    assert [Path(found.path).relative_to(made.folder).as_posix() for found in done.findings] == paths
    assert set(done.ids) <= {"side_effect.fs_write"}


def test_writes_that_nobody_could_see_cannot_be_certified(flow: Callable[..., Scenario]) -> None:
    made = flow("", fs_write())
    done = made.run(**uncontained(made))
    assert (done.code, done.ids) == (2, ["side_effect.uncertified"]), done.said


CONTROL = {"id": "sec.egress", "title": "Touches nothing undeclared"}


def test_a_control_has_its_row_in_the_record_and_in_the_audit(flow: Callable[..., Scenario]) -> None:
    made = flow("", "assert_no_egress", allow_egress=["${SERVICE}:443"])
    made.change(control=CONTROL)
    shell = {"SERVICE": "198.51.100.77"}
    assert made.cli("audit", ".").code == 1, "never run"
    first = made.run(**shell)
    assert first.flow.control is not None and first.report is not None
    assert (first.flow.control["verdict"], first.flow.control["lanes"]) == ("pass", ["reply", "egress"])
    assert first.flow.control["containment"] == first.flow.containment
    certified = made.cli("audit", ".", "--json")
    [row] = json.loads(certified.stdout)["controls"]
    assert (certified.code, row["verdict"], row["run"]) == (0, "pass", first.report.id)
    assert row["evidence"]["allow_egress"] == ["${SERVICE}:443"]

    lost = made.run(**shell, **uncontained(made))
    assert lost.flow.control is not None and lost.flow.control["verdict"] == "capability-error"
    after = made.cli("audit", ".", "--since", first.report.id)
    assert after.code == 1 and "newly uncertifiable" in after.stdout, after.said

    (made.folder / "agent.py").write_text(ASKS + REACHES)
    assert made.run(**shell).code == 3
    failing = made.cli("audit", ".")
    assert failing.code == 1 and "failing" in failing.stdout and "192.0.2.1:443" in failing.stdout, failing.said


def test_two_flows_with_one_control_are_refused_before_anything_runs(flow: Callable[..., Scenario]) -> None:
    made = flow("", "assert_no_egress")
    made.change(control=CONTROL)
    made.copy("second")
    for words in (("run", "."), ("check", "."), ("audit", ".")):
        done = made.cli(*words)
        assert done.code == 2 and "'sec.egress' is claimed by" in done.said, done.said
        assert "flow.flow.yaml" in done.said and "second.flow.yaml" in done.said


def test_an_audit_of_nothing_is_an_error(flow: Callable[..., Scenario], tmp_path: Path) -> None:
    done = flow("").cli("audit", ".")
    assert done.code == 2 and "has a control" in done.said
