"""`flowproof doctor` on real agents: what it says and with which exit code."""

from __future__ import annotations

import http.client
import json
import shlex
import socket
import sys
from pathlib import Path

import pytest
import yaml
from tests.e2e.scenario import HERE, PROMPT, Outcome, Scenario, python, shell, spec
from tests.e2e.upstream import Answer, Seen, Upstream, reply

ROOT = HERE.parents[1]

AWAY = "import socket; socket.socket().connect_ex(('198.51.100.9', 443))"


@pytest.fixture
def bench(tmp_path: Path) -> Scenario:
    """A folder without a spec, and no model anywhere."""
    folder = tmp_path / "work"
    folder.mkdir()
    return Scenario(folder, folder / "flow.flow.yaml", shell(tmp_path / "home"))


def doctor(bench: Scenario, agent: list[str], *options: str) -> Outcome:
    return bench.cli("doctor", "--agent", shlex.join(agent), *options)


@pytest.mark.parametrize(
    ("agent", "said"),
    [
        (python("openai_chat.py", "stream"), "openai-chat: POST /v1/chat/completions from OpenAI/Python"),
        (python("openai_responses.py"), "openai-responses: POST /v1/responses"),
        (python("openai_responses.py", "socket"), "side call: WebSocket /v1/responses from OpenAI/Python"),
        (python("anthropic_messages.py", "stream"), "anthropic-messages: POST /v1/messages from Anthropic/Python"),
    ],
    ids=["chat", "responses", "responses, a socket first", "messages"],
)
def test_an_agent_that_follows_its_variable_is_wired(bench: Scenario, agent: list[str], said: str) -> None:
    outcome = doctor(bench, agent)
    assert outcome.code == 0, outcome.said
    assert said in outcome.stdout
    assert "_BASE_URL" in next(line for line in outcome.stdout.splitlines() if line.startswith("honoured"))
    assert "nothing between two runs" in outcome.stdout


def test_an_agent_that_asks_no_model_is_told_what_to_map(bench: Scenario) -> None:
    outcome = doctor(bench, [sys.executable, "-c", "pass"])
    assert outcome.code == 1, outcome.said
    assert "NOT WIRED" in outcome.stdout
    assert "${flowproof.proxy_url}" in outcome.stdout


def test_an_agent_that_hangs_is_ended_with_its_whole_tree(bench: Scenario) -> None:
    outcome = doctor(bench, ["sh", "-c", "sleep 600 & sleep 600"], "--timeout", "1")
    assert outcome.code == 1, outcome.said  # and nothing is left: `cli` looked
    assert "stopped at the timeout" in outcome.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="nothing sees connections elsewhere")
def test_a_connection_elsewhere_is_refused_and_reported(bench: Scenario) -> None:
    outcome = doctor(bench, [sys.executable, "-c", AWAY])
    if "not contained" in outcome.stdout:
        pytest.skip(outcome.stdout)
    assert outcome.code == 1, outcome.said
    assert "198.51.100.9:443 tcp, refused" in outcome.stdout


@pytest.mark.parametrize("words", [(), ("--agent", "no-such-program"), ("--agent", "true", "--timeout", "soon")])
def test_what_cannot_be_examined_is_exit_code_two(bench: Scenario, words: tuple[str, ...]) -> None:
    outcome = bench.cli("doctor", *words)
    assert outcome.code == 2
    assert outcome.stderr.startswith("flowproof: ")


def test_the_agent_of_a_spec_needs_no_further_word(bench: Scenario) -> None:
    bench.spec.write_text(yaml.safe_dump(spec(python("openai_chat.py"))))
    outcome = bench.cli("doctor", "--spec", str(bench.spec), "--once")
    assert outcome.code == 0, outcome.said


def test_the_handle_that_led_here_is_named(bench: Scenario) -> None:
    code = (
        "import sys, urllib.request as r;"
        'r.urlopen(r.Request(sys.argv[1] + \'/chat/completions\', b\'{"model": "m", "messages": []}\','
        " {'content-type': 'application/json'})).read()"
    )
    outcome = doctor(bench, [sys.executable, "-c", code, "${flowproof.proxy_url}"], "--once")
    assert outcome.code == 0, outcome.said
    assert "honoured   ${flowproof.proxy_url}\n" in outcome.stdout


def test_mcp_stand_ins_that_were_contacted_are_told(bench: Scenario) -> None:
    server = {"command": f"{sys.executable} {ROOT}/examples/servers/reports.py"}
    agent = [sys.executable, f"{ROOT}/examples/agents/mcp_plan_mode.py"]
    servers = [{"name": "reports", **server}, {"name": "idle", **server}]
    bench.spec.write_text(yaml.safe_dump(spec(agent, mcp=servers)))
    outcome = bench.cli("doctor", "--spec", str(bench.spec), "--once")
    assert outcome.code == 0, outcome.said
    told = [line[10:].strip() for line in outcome.stdout.splitlines() if "contacted" in line]
    assert [line.partition(", ")[0] for line in told] == ["reports: contacted", "idle: not contacted"]


def test_a_service_is_examined_where_it_runs(bench: Scenario) -> None:
    """Wired is what asks its model at `proxy_port`, whatever it answers; nothing of it is ours to start or contain."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]

    def service(seen: Seen) -> Answer:
        body = json.dumps({"model": "m", "messages": [{"role": "user", "content": seen.json["prompt"]}]})
        asked = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        asked.request("POST", "/v1/chat/completions", body, {"content-type": "application/json"})
        told = json.loads(asked.getresponse().read())["choices"][0]["message"]["content"]
        asked.close()
        return reply({"said": told}, 500)

    with Upstream(service) as running:
        bench.spec.write_text(yaml.safe_dump(spec({"url": f"{running.url}/run", "proxy_port": port})))
        outcome = bench.cli("doctor", "--spec", str(bench.spec))
        assert outcome.code == 0, outcome.said
        for line in (
            f"agent      {running.url}/run",
            "ended      answered",
            "note       the service answered 500",
            "arrived    openai-chat: POST /v1/chat/completions",
            "elsewhere  not known: nothing here can see the agent's connections",
            "varied     nothing between two runs",
            "containment not contained (a url: agent is not started by flowproof)",
        ):
            assert line in outcome.stdout, outcome.said
        assert "to raise it: an agent.command; on this machine one is " in outcome.stdout
        assert [body["prompt"] for body in running.bodies] == [PROMPT, PROMPT]

        running.handler = lambda seen: reply({})
        deaf = bench.cli("doctor", "--spec", str(bench.spec))
        assert (deaf.code, f"base URL at http://127.0.0.1:{port}/v1" in deaf.stdout) == (1, True), deaf.said
    gone = bench.cli("doctor", "--spec", str(bench.spec))
    assert (gone.code, "nothing listens there" in gone.stderr) == (2, True), gone.said


ADAPTER = """
import json, sys
def send(**message): print(json.dumps(message), flush=True)
start = json.loads(sys.stdin.readline())
send(type="tool_call", callId="1", tool="order", arguments={"id": "A"})
sys.stdin.readline()
"""
FINAL = 'send(type="final", status="completed", output={})\n'


@pytest.mark.parametrize(
    ("script", "code", "said"),
    [
        (ADAPTER + FINAL, 0, "wired: the adapter talks to flowproof; no model of it does"),
        (ADAPTER + 'print("hello", flush=True)\n' + FINAL, 2, "problem    "),
        (ADAPTER + "import time; time.sleep(60)\n", 1, "NOT WIRED: the adapter did not come to its end"),
    ],
    ids=["whole", "no protocol", "silent"],
)
def test_an_adapter_is_examined_in_its_own_protocol(bench: Scenario, script: str, code: int, said: str) -> None:
    (bench.folder / "adapter.py").write_text(script)
    tools = [{"name": "order", "result": {"amount": 5}}]
    agent = {"adapter": [sys.executable, "adapter.py"], "timeout": "3s"}
    bench.spec.write_text(yaml.safe_dump(spec(agent, ["assert_tool_call: order"], tools=tools)))
    outcome = bench.cli("doctor", "--spec", str(bench.spec))
    assert (outcome.code, said in outcome.stdout) == (code, True), outcome.said
    assert "tools      order\n" in outcome.stdout
    assert "an adapter: agent answers through flowproof" in outcome.stdout
