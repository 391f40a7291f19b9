"""A member named by `redact.keys` is in nothing that is written or said, whichever way its call is judged."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from tests.e2e.mcp.lanes import HERE
from tests.e2e.scenario import Scenario, everywhere

type New = Callable[..., Scenario]

AGENT = str(HERE / "agent.py")
SERVER = [sys.executable, str(HERE / "servers" / "weather.py"), "notes.txt"]
HIDDEN = "Zanzibar-77"
"""Only ever an argument: in the spec's command, and neither in the prompt nor in the declared result."""

WRONG: dict[str, Any] = {
    "steps": ["assert_tool_call: get_weather where city equals Nairobi"],
    "expect": {"args": ["get_weather where city equals Nairobi"], "calls": ["get_weather never"]},
}


def flow_of(scenario: New, steps: list[str], **more: Any) -> Scenario:
    return scenario(
        [sys.executable, AGENT, "${flowproof.mcp_server.weather}", f"city={HIDDEN}"],
        steps,
        mcp=[{"name": "weather", "command": SERVER, "tools": [{"name": "get_weather", "result": "snow"}]}],
        **more,
    )


def test_it_is_in_no_finding_and_no_report(scenario: New) -> None:
    flow = flow_of(scenario, **WRONG, redact={"keys": ["city"]})
    recorded = flow.record("--html", "report.html", "--junit", "report.xml")
    assert recorded.code == 3, recorded.said
    assert sorted(recorded.ids) == ["tool.arguments_subset", "tool.call.missing", "tool.forbidden"]
    assert "${REDACTED:city}" in recorded.said
    assert HIDDEN not in everywhere(flow, recorded, flow.spec.name)


def test_not_named_it_is_in_all_of_them(scenario: New) -> None:
    flow = flow_of(scenario, **WRONG)
    recorded = flow.record("--html", "report.html", "--junit", "report.xml")
    assert HIDDEN in recorded.said
    for name in ("report.html", "report.xml"):
        assert HIDDEN in (flow.folder / name).read_text()


def test_it_is_in_no_refusal(scenario: New) -> None:
    steps = ["assert_no_tool_call: get_weather"]
    flow = flow_of(scenario, steps, enforce=["forbidden"], redact={"keys": ["city"]})
    recorded = flow.record()
    assert (recorded.code, recorded.ids) == (3, ["dispatch.authorization_denied"]), recorded.said
    assert HIDDEN not in everywhere(flow, recorded, flow.spec.name)


def test_what_is_not_kept_is_not_compared(scenario: New) -> None:
    flow = flow_of(scenario, ["assert_tool_call: get_weather"], redact={"keys": ["city"]})
    recorded = flow.record()
    assert recorded.code == 0, recorded.said
    flow.edit(HIDDEN, "Timbuktu-78")
    replayed = flow.run()
    assert replayed.code == 0, replayed.said
    assert HIDDEN not in everywhere(flow, recorded, flow.spec.name)
    assert "Timbuktu-78" not in everywhere(flow, replayed, flow.spec.name)
