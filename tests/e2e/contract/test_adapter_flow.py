"""An adapter as the agent of a flow: recorded, replayed, judged by steps and contract alike."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from tests.e2e.upstream import Answer, Seen, Upstream, reply

from flowproof_runner.entry import run as flowproof

type Agent = Callable[..., list[str]]

MCP = [sys.executable, "-S", str(Path(__file__).with_name("mcp_shop.py"))]
DONE = '\nsend(type="final", status="completed", output={"refunded": 1, "message": start["input"]["message"]})'
REFUND = (
    'send(type="confirmation", tool="refund", confirmed=True, arguments={"amount": 5})\n'
    'call("order", id="A")\ncall("refund", amount=5)'
)


@pytest.fixture
def flow(shop: Path, agent: Agent) -> Callable[..., Path]:
    """Writes a flow around an adapter's script."""

    def write(script: str, name: str = "shop", **sections: object) -> Path:
        spec = {
            "name": "The shop refunds an order",
            "app": "agent",
            "agent": {"adapter": agent(script), "timeout": "20s", "output": "adapter"},
            "tools": [
                {"name": "order", "cases": [{"where": {"id": "A"}, "result": {"id": "A", "amount": 5}}]},
                {"name": "refund", "results": [{"ok": True}]},
                {"name": "wipe", "result": {}},
            ],
            "steps": [{"prompt": "Refund A."}],
            "expect": {
                "calls": ["wipe never"],
                "args": ["refund where amount equals order.amount"],
                "confirm": ["refund needs adapter approved with same arguments"],
                "outcome": {"where": ["out.refunded equals count(refund.args.amount)", "out.message equals Refund A."]},
            },
            **sections,
        }
        path = shop / f"{name}.flow.yaml"
        path.write_text(yaml.safe_dump(spec, sort_keys=False))
        return path

    return write


def report(folder: Path) -> dict[str, object]:
    [path] = (folder / ".flowproof" / "runs" / "latest").glob("report.json")
    found: dict[str, object] = json.loads(path.read_text())["flows"][0]
    return found


def ids(folder: Path) -> list[str]:
    findings = report(folder)["findings"]
    assert isinstance(findings, list)
    return [found["id"] for found in findings]


def test_an_adapter_is_recorded_and_replayed_without_any_model(flow: Callable[..., Path], shop: Path) -> None:
    path = flow(REFUND + DONE, steps=[{"prompt": "Refund A."}, {"assert_tool_call": "refund where amount equals 5"}])
    assert flowproof(["record", str(path)]) == 0
    assert flowproof(["run", str(path)]) == 0
    assert ids(shop) == []


@pytest.mark.parametrize(
    ("script", "code", "finding"),
    [
        ('call("order", id="A")\ncall("refund", amount=4)' + DONE, 3, "tool.arguments_subset"),
        ('call("order", id="A")\ncall("refund", amount=5)' + DONE, 3, "safety.confirmation_required"),
        ('call("wipe")' + DONE, 3, "tool.forbidden"),
        ('call("order", id="B")' + DONE, 1, "fixture.unmatched_call"),
        ('call("nobody")' + DONE, 2, "runtime.execution"),
        ("print(1)", 2, "runtime.execution"),
        ("sys.exit(3)", 2, "runtime.execution"),
        (REFUND, 2, "runtime.execution"),
    ],
)
def test_what_an_adapter_does_wrong_is_found(
    script: str, code: int, finding: str, flow: Callable[..., Path], shop: Path
) -> None:
    good = flow(REFUND + DONE)
    assert flowproof(["record", str(good)]) == 0
    flow(script)
    assert flowproof(["run", str(good)]) == code
    assert finding in ids(shop)


def test_what_a_run_did_not_put_to_the_test_is_told_and_fails_when_strict(
    flow: Callable[..., Path], shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    expect: dict[str, object] = {"calls": ["wipe never"], "args": ["wipe where id exists"]}
    path = flow(REFUND + DONE, expect=expect)
    assert flowproof(["record", str(path)]) == 0
    assert flowproof(["run", str(path)]) == 0
    assert report(shop)["expectations"] == [
        {"id": "calls[0]", "text": "wipe never", "times": 2, "ok": True, "where": f"{path}:27"},
        {"id": "args[0]", "text": "wipe where $id exists", "times": 0, "ok": True, "where": f"{path}:29"},
    ]
    told = capsys.readouterr().out
    assert "nothing in this run put it to the test: wipe where $id exists" in told
    flow(REFUND + DONE, expect={"strict": True, **expect})
    assert flowproof(["run", str(path)]) == 1
    assert ids(shop) == ["contract.not_exercised"]
    page = (shop / ".flowproof" / "runs" / "latest" / "report.html").read_text()
    assert "put to the test 2 times" in page


def test_a_lingering_adapter_is_a_timeout(flow: Callable[..., Path], shop: Path) -> None:
    path = flow(REFUND + DONE)
    assert flowproof(["record", str(path)]) == 0
    text = flow("time.sleep(60)").read_text().replace("20s", "1s")
    path.write_text(text)
    assert flowproof(["run", str(path)]) == 1
    assert "agent.timeout" in ids(shop)


def test_enforcement_refuses_before_dispatch_and_an_adapter_that_understands_goes_on(
    flow: Callable[..., Path], shop: Path
) -> None:
    polite = 'send(type="hello", understands=["tool_denied"])\n'
    path = flow(REFUND + DONE, enforce=["forbidden", "confirmation"])
    assert flowproof(["record", str(path)]) == 0
    text = yaml.safe_load(flow(f'call("wipe")\n{REFUND}{DONE}', enforce=["forbidden"]).read_text())
    adapter = Path(text["agent"]["adapter"][-1])
    adapter.write_text(adapter.read_text().replace("start = json", polite + "start = json"))
    assert flowproof(["run", str(path)]) == 3
    assert ids(shop) == ["dispatch.authorization_denied"]


def test_mcp_servers_and_fixtures_answer_one_adapter_and_the_servers_are_replayed(
    flow: Callable[..., Path], shop: Path
) -> None:
    script = 'o = call("order", id="A")["result"]\ncall("web.slow")\ncall("refund", amount=o["amount"])'
    sections: dict[str, object] = {
        "tools": [{"name": "refund", "result": {"ok": True}}],
        "mcp": [{"name": "web", "command": MCP, "limits": {"result": "64KiB"}}],
        "steps": [{"prompt": "Refund A."}, {"assert_tool_call": "web.order"}, {"assert_tool_call": "slow"}],
        "expect": {"args": ["refund where amount equals result(order).amount"], "calls": ["web.slow at least once"]},
    }
    path = flow(script + DONE, **sections)
    assert flowproof(["record", str(path)]) == 0
    text = path.read_text().replace(str(Path(__file__).with_name("mcp_shop.py")), "/no/such/server.py")
    path.write_text(text)
    assert flowproof(["run", str(path)]) == 0
    assert ids(shop) == []


def test_the_mutants_of_a_recorded_flow_are_judged(
    flow: Callable[..., Path], shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = flow(REFUND + DONE)
    assert flowproof(["record", str(path)]) == 0
    capsys.readouterr()
    assert flowproof(["mutate", str(path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["score"]["faults"] > 5
    assert told["score"]["percent"] > told["control"]["percent"]


def test_replays_are_compared_and_what_differs_is_the_agents_own(
    flow: Callable[..., Path], shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = flow(REFUND + DONE)
    assert flowproof(["record", str(path)]) == 0
    assert flowproof(["contract", "test", str(path), "--repeat", "2"]) == 0
    odd = "import os\nos.path.exists('ran') and call('order', id='A')\nopen('ran', 'w').close()\n"
    flow(odd + REFUND + DONE)
    capsys.readouterr()
    assert flowproof(["contract", "test", str(path), "--repeat", "2"]) == 1
    told = capsys.readouterr().out
    assert "repeat.tool_sequence: 2 different sequences of tools" in told
    assert "order → order → refund" in told


MODEL = """
import os, urllib.request
def ask(messages):
    body = json.dumps({"model": "m", "messages": messages}).encode()
    headers = {"content-type": "application/json", "authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body, headers)
    message = json.load(urllib.request.urlopen(request))["choices"][0]["message"]
    messages.append(message)
    return message
messages = [{"role": "user", "content": start["input"]["message"]}]
while calls := ask(messages).get("tool_calls"):
    for wish in calls:
        result = call(wish["function"]["name"], **json.loads(wish["function"]["arguments"]))["result"]
        messages.append({"role": "tool", "tool_call_id": wish["id"], "content": json.dumps(result)})
"""


def refunds(seen: Seen) -> Answer:
    """A model that looks an order up, refunds what it was told, and ends."""
    said = sum(message["role"] == "tool" for message in seen.json["messages"])
    wishes: list[tuple[str, dict[str, object]]] = [("order", {"id": "A"}), ("refund", {"amount": 5})]
    message: dict[str, object] = {"role": "assistant", "content": "Done." if said == len(wishes) else None}
    if said < len(wishes):
        name, arguments = wishes[said]
        function = {"name": name, "arguments": json.dumps(arguments)}
        message["tool_calls"] = [{"id": f"c{said}", "type": "function", "function": function}]
    choice = {"index": 0, "message": message, "finish_reason": "stop" if said == len(wishes) else "tool_calls"}
    return reply({"id": f"x{said}", "object": "chat.completion", "model": "m", "choices": [choice]})


def test_an_adapter_with_a_model_behind_it_is_judged_as_one_run(
    flow: Callable[..., Path], shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the model decides and the adapter asks for is one call, informed by what the model had been told."""
    expect: dict[str, object] = {
        "calls": ["exactly 2 calls", "exactly 1 of refund"],
        "order": ["order before refund"],
        "args": ["refund where amount equals order.amount"],
    }
    path = flow(MODEL + DONE, expect=expect)
    with Upstream(refunds) as upstream:
        monkeypatch.setenv("FLOWPROOF_AGENT_UPSTREAM", upstream.url)
        monkeypatch.setenv("FLOWPROOF_AGENT_KEY", "sk-stand-in-0123456789")
        assert flowproof(["record", str(path)]) == 0
    assert flowproof(["run", str(path)]) == 0
    assert ids(shop) == []
    flow(MODEL + DONE, expect={"order": ["refund before order"]})
    assert flowproof(["run", str(path)]) == 1
    assert ids(shop) == ["tool.precedence"]
