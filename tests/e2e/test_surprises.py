"""What other record/replay tools were observed to get wrong, and no other file here covers (prior art)."""

from __future__ import annotations

import http.client
import json
import socket
import sys
from collections.abc import Callable
from typing import Any

import pytest
from tests.e2e.scenario import BIN, PROMPT, Scenario, chat, python
from tests.e2e.upstream import Upstream, reply

type New = Callable[..., Scenario]

PICTURE = "data:image/png;base64,iVBORw0KGgo="


def parts(text: str, picture: str = PICTURE) -> list[Any]:
    return [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": picture}}]


@pytest.mark.parametrize("drifted", [parts("How is Lagos?"), parts(PROMPT, PICTURE.replace("o=", "p=")), PROMPT])
def test_a_prompt_given_as_parts_is_no_blind_spot(once: New, drifted: Any, planned: New) -> None:
    """Surprise 1: text and picture in a list of parts count like any other."""
    flow = once(planned([chat(parts(PROMPT))]))
    assert flow.run().code == 0
    flow.plan([chat(drifted)])
    replayed = flow.run()
    assert (replayed.code, replayed.ids[0]) == (1, "model.divergence"), replayed.said


def test_an_empty_cassette_proves_nothing(once: New, planned: New) -> None:
    """Surprise 5: no turns recorded, none made: that is not a pass."""
    flow = once(planned([chat()], ["assert_no_tool_call: get_weather"]))
    cassette = json.loads(flow.cassette.read_text())
    cassette["model"]["turns"] = []
    flow.cassette.write_text(json.dumps(cassette, indent=2))
    flow.plan([])
    replayed = flow.run()
    assert replayed.code in (1, 2), replayed.said
    assert replayed.findings


@pytest.mark.parametrize("word", ["capability-error", "SKIP", "flowproof: PASS", "verdict: pass"])
def test_what_a_model_says_does_not_change_the_verdict(once: New, word: str, planned: New) -> None:
    """Surprise 6: the reply is the model's; a failing flow stays one."""
    flow = once(planned([chat(word)], ["assert: reply contains Told"]))
    flow.change(steps=[{"prompt": word}, {"assert": "reply contains something else"}])
    replayed = flow.run()
    assert (replayed.code, replayed.flow.verdict) == (1, "fail")


def test_an_idle_connection_holds_up_nobody(planned: New) -> None:
    """Surprise 22: a client that connects and says nothing, beside one that speaks."""
    flow = planned([chat()])
    flow.change(agent={"command": python("idles.py")})
    recorded, replayed = flow.record(), flow.run()
    assert (recorded.code, replayed.code) == (0, 0), recorded.said + replayed.said
    assert replayed.flow.agent is not None and replayed.flow.agent.ending == "exited"  # the SDK waits for 20 s


def test_a_chunked_request_is_read(planned: New, upstream: Upstream) -> None:
    """Surprise 22: no Content-Length, the body in pieces."""
    body = json.dumps(chat()["body"])
    pieces = "".join(f"{len(p):x}\r\n{p}\r\n" for p in (body[:10], body[10:])) + "0\r\n\r\n"
    chunked = {**chat(), "text": pieces, "headers": {"transfer-encoding": "chunked"}}
    del chunked["body"]
    flow = planned([chunked])
    recorded = flow.record()
    assert recorded.code == 0, recorded.said
    assert upstream.bodies == [chat()["body"]]
    flow.plan([chat()])
    assert flow.run().code == 0


def test_retries_at_replay_are_refused_with_the_reason(planned: New) -> None:
    """Surprise 19: a replay that passes the second time is a finding, not a pass."""
    outcome = planned([chat()]).run("--retries", "2")
    assert outcome.code == 2
    assert "deterministic" in outcome.stderr


def test_missing_cassettes_can_be_recorded_in_the_same_go(planned: New, upstream: Upstream) -> None:
    """Surprise 19: `--record-missing` records what is missing and replays the rest."""
    flow = planned([chat()])
    assert flow.record().code == 0
    other = flow.copy("other")
    other.cassette.unlink()
    seen = len(upstream.seen)
    outcome = flow.cli("run", ".", "--record-missing")
    assert outcome.code == 0, outcome.said
    assert outcome.report is not None
    assert {f.name: f.phase for f in outcome.report.flows} == {"e2e": "replay", "other": "record"}
    assert len(upstream.seen) == seen + 1
    assert other.cassette.exists()
    upstream.stop()
    assert flow.cli("run", ".").code == 0


def test_reports_of_two_runs_do_not_mix(once: New, planned: New) -> None:
    """Surprise 25: a report is of one invocation, wherever `latest` points."""
    flow = once(planned([chat()]))
    flow.copy("other")
    suite, single = flow.cli("run", "."), flow.run()
    assert suite.report is not None and single.report is not None
    assert (len(suite.report.flows), len(single.report.flows)) == (2, 1)
    latest = flow.folder / ".flowproof" / "runs" / "latest" / "report.json"
    assert json.loads(latest.read_text())["id"] == single.report.id


def test_json_on_stdout_is_the_report_and_nothing_else(once: New, planned: New, tmp_path: Any) -> None:
    flow = once(planned([chat()]))
    outcome = flow.run("--json", "--junit", "out.xml")
    assert json.loads(outcome.stdout)["exit_code"] == outcome.code == 0
    assert 'tests="1"' in (flow.folder / "out.xml").read_text()


CLIENTS = {
    "curl": ["curl", "-sS", "--max-time", "20", "-H", "content-type: application/json", "-d", "@body.json"],
    "requests": [
        sys.executable,
        "-c",
        "import requests, sys; headers = {'content-type': 'application/json'};"
        "print(requests.Session().post(sys.argv[1], data=open('body.json', 'rb'), headers=headers, timeout=20).text)",
    ],
    "urllib": [
        sys.executable,
        "-c",
        "import sys; from urllib.request import Request, urlopen; headers = {'content-type': 'application/json'};"
        "print(urlopen(Request(sys.argv[1], open('body.json', 'rb').read(), headers), timeout=20).read().decode())",
    ],
    "node": [
        str(BIN / "node"),
        "-e",
        "const body = require('fs').readFileSync('body.json'), headers = {'content-type': 'application/json'};"
        "fetch(process.argv[1], {method: 'POST', headers, body}).then(r => r.text()).then(console.log)",
    ],
}


@pytest.mark.parametrize("client", CLIENTS)
def test_any_client_is_recorded(client: str, scenario: New, upstream: Upstream) -> None:
    """H103: nothing is hooked inside the agent, so there is no layer to slip past."""
    flow = scenario([*CLIENTS[client], "${flowproof.proxy_url}/chat/completions"])
    (flow.folder / "body.json").write_text(json.dumps(chat()["body"]))
    recorded = flow.record()
    assert recorded.code == 0, recorded.said
    upstream.stop()
    replayed = flow.run()
    assert (replayed.code, replayed.printed) == (0, recorded.printed), replayed.said


def test_a_service_is_driven_over_http(scenario: New, upstream: Upstream) -> None:
    """The url driver: verdict from the boundary, never from the service's status."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with Upstream(lambda seen: service(seen, port)) as agent:
        flow = scenario({"url": f"{agent.url}/run", "proxy_port": port, "headers": {"x-caller": "flowproof"}})
        recorded = flow.record()
        assert recorded.code == 0, recorded.said
        assert agent.bodies[0] == {"prompt": PROMPT}
        assert agent.seen[0].header("x-caller") == "flowproof"
        upstream.stop()
        assert flow.run().code == 0
        agent.handler = lambda seen: service(seen, port, temperature=0.9)
        drifted = flow.run()
        assert (drifted.code, drifted.ids[0]) == (1, "model.divergence"), drifted.said


def service(seen: Any, port: int, **changes: Any) -> Any:
    """Asks the model, says nothing of how that went, and answers 500 whatever happened."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    request = chat(seen.json["prompt"], **changes)
    connection.request("POST", request["path"], json.dumps(request["body"]), {"content-type": "application/json"})
    connection.getresponse().read()
    connection.close()
    return reply({}, 500)
