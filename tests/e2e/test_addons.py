"""Addon files of users: dialects of their own in every command, hooks of their own, and what is said of broken ones."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.e2e.scenario import BIN, HERE, Scenario, shell

INHOUSE = HERE.parents[1] / "examples" / "addons" / "inhouse"
MINE = """
from pathlib import Path

SEEN = Path(__file__).with_name("seen.txt")


def response(flow):
    flow.request.host = "203.0.113.1"
    with SEEN.open("a") as seen:
        seen.write(f"{flow.request.path} {flow.response.status_code}\\n")
"""


@pytest.fixture
def service() -> Iterator[str]:
    """The in-house model."""
    process = subprocess.Popen([sys.executable, str(INHOUSE / "service.py")], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    yield process.stdout.readline().split()[-1]
    process.kill()
    process.wait()
    process.stdout.close()


@pytest.fixture
def inhouse(tmp_path: Path) -> Scenario:
    """The example, in a folder of its own."""
    folder = tmp_path / "work"
    shutil.copytree(INHOUSE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    spec = folder / "look-up.flow.yaml"
    spec.write_text(spec.read_text().replace("examples/addons/inhouse/", ""))
    return Scenario(folder, spec, shell(tmp_path / "home"))


def test_a_dialect_of_ones_own_in_every_command(inhouse: Scenario, service: str) -> None:
    inhouse.cassette.unlink()
    recorded = inhouse.record(FLOWPROOF_AGENT_UPSTREAM=service)
    assert (recorded.code, recorded.flow.counts.turns) == (0, 2), recorded.said
    replayed = inhouse.run("--html", "page.html")
    assert (replayed.code, replayed.printed) == (0, "It is about rain.\n"), replayed.said
    assert "look_up" in (inhouse.folder / "page.html").read_text()
    for words in (("show", "look-up.flow.yaml"), ("show",)):
        shown = inhouse.cli(*words)
        assert 'calls      look_up {"word": "rain"}' in shown.stdout, shown.said
    same = inhouse.cli("diff", "look-up.trace.json", "look-up.trace.json")
    assert (same.code, same.stdout) == (0, "no difference in what the agent does or is told\n")
    healed = inhouse.cli("heal", "look-up.flow.yaml", FLOWPROOF_AGENT_UPSTREAM=service)
    assert healed.code == 0, healed.said
    examined = inhouse.cli("doctor", "--spec", "look-up.flow.yaml", "--once")
    assert "inhouse" in examined.stdout, examined.said
    tested = subprocess.run(
        [
            str(BIN / "pytest"),
            "-q",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:recording",
            "-p",
            "no:cassetter",
            inhouse.spec.name,
        ],
        cwd=inhouse.folder,
        env=inhouse.shell,
        capture_output=True,
        text=True,
        check=False,
    )
    assert tested.returncode == 0, tested.stdout
    inhouse.edit("What is rain?", "What is snow?")
    assert inhouse.run().ids[:1] == ["model.divergence"]


def test_hooks_of_ones_own_see_every_flow_and_open_no_connection(inhouse: Scenario) -> None:
    (inhouse.folder / "mine.py").write_text(MINE)
    (inhouse.folder / "suite.yaml").write_text("addons: [dialect.py, mine.py]\n")
    replayed = inhouse.run()
    assert replayed.code == 0, replayed.said
    assert (inhouse.folder / "seen.txt").read_text() == "/answer 200\n" * 2


@pytest.mark.parametrize(
    ("addons", "written", "said"),
    [
        ("no.py", "", "suite.yaml:1:9: addons: 'no.py' is no Python file here; accepted: Python files, relative to"),
        ("bad.py", "x = 1\nx.y\n", "bad.py' cannot be loaded: line 2: AttributeError: 'int' object has no attribute"),
        ("bad.py", "def f(:\n", "bad.py' cannot be loaded: SyntaxError"),
        ("bad.py", "def load(loader):\n    raise RuntimeError('not today')\n", "RuntimeError: not today"),
        (
            "bad.py",
            "from flowproof_addons.dialects.registry import register\nregister(object())\n",
            "is no dialect, it lacks",
        ),
        (
            "bad.py",
            "from flowproof_addons.dialects import openai_chat, registry\n"
            "class Mine(openai_chat.OpenAIChat): pass\nregistry.register(Mine())\n",
            "the dialect name 'openai-chat' is taken by",
        ),
    ],
    ids=["missing", "raises", "syntax", "hook", "no dialect", "taken"],
)
def test_a_file_that_cannot_be_used_is_an_error_that_names_it(
    inhouse: Scenario, addons: str, written: str, said: str
) -> None:
    if written:
        (inhouse.folder / addons).write_text(written)
    (inhouse.folder / "suite.yaml").write_text(f"addons: {addons}\n")
    refused = inhouse.run()
    assert (refused.code, said in refused.said) == (2, True), refused.said


def test_without_the_file_the_same_flow_has_no_turns(inhouse: Scenario, service: str) -> None:
    (inhouse.folder / "suite.yaml").unlink()
    inhouse.cassette.unlink()
    recorded = inhouse.record(FLOWPROOF_AGENT_UPSTREAM=service)
    assert (recorded.code, recorded.ids[0], inhouse.cassette.exists()) == (2, "model.no-request", False)


def test_a_dialect_file_beside_ours_by_hand(inhouse: Scenario, tmp_path: Path) -> None:
    session = {"id": "by-hand", "phase": "replay", "folder": str(tmp_path / "run"), "cassette": str(inhouse.cassette)}
    (inhouse.folder / "session.json").write_text(json.dumps({"session": session}))
    script = subprocess.check_output([str(BIN / "flowproof"), "addon"], text=True).strip()
    settings = ("flowproof_config=session.json", f"confdir={tmp_path / 'mitmproxy'}")
    process = subprocess.Popen(
        [str(BIN / "mitmdump"), "-s", script, "-s", "dialect.py", *(w for s in settings for w in ("--set", s))],
        cwd=inhouse.folder,
        env={**inhouse.shell, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        line = next(line for line in process.stdout if "flowproof: replay on" in line)
        url = f"{line.split()[-1]}/answer"
        listening = {c.laddr for c in psutil.Process(process.pid).net_connections() if c.status == psutil.CONN_LISTEN}
        assert [f"http://{at.ip}:{at.port}" for at in listening] == [line.split()[-1]]  # none of mitmproxy's own
        with ask(url, "What is rain?") as answer:
            assert b'"tool":"look_up"' in answer.read()
        with pytest.raises(urllib.error.HTTPError) as refused:
            ask(url, "What is snow?")
        assert (refused.value.code, list(json.loads(refused.value.read()))) == (400, ["problem"])
    finally:
        process.terminate()
        process.communicate()


def ask(url: str, word: str) -> Any:
    asked = {"engine": "in-1", "rules": "Be brief.", "can": ["look_up"], "live": True}
    body = json.dumps({**asked, "log": [{"who": "user", "say": word}]}).encode()
    return urllib.request.urlopen(urllib.request.Request(url, body, {"content-type": "application/json"}))
