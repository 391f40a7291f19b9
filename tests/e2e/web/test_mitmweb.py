"""`flowproof inspect` and `--web`: what stands in mitmweb, over its API and in a real browser."""

from __future__ import annotations

import io
import json
import socket
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from mitmproxy import http
from mitmproxy.io import FlowReader
from tests.e2e.mcp.lanes import HERE as MCP
from tests.e2e.mcp.lanes import Listening
from tests.e2e.scenario import Scenario, chat, messages, python
from tests.e2e.upstream import Upstream
from tests.e2e.web.browser import Browser
from tests.e2e.web.conftest import Picture
from tests.e2e.web.mitmweb import Mitmweb
from tests.runner.report.html import sample

from flowproof_addons.live import label
from flowproof_addons.trace import file

type Open = Callable[..., Mitmweb]
type Listen = Callable[[Sequence[str], Mapping[str, str]], Listening]


@pytest.fixture
def opened() -> Iterator[Open]:
    """Starts a CLI that opens mitmweb; what the test does not end is ended."""
    running: list[Mitmweb] = []

    def start(scenario: Scenario, *words: str) -> Mitmweb:
        running.append(Mitmweb.of(scenario.start(*words)))
        return running[-1]

    yield start
    for web in running:
        if web.started.process.poll() is None:
            web.end()


@pytest.fixture
def shown(scenario: Callable[..., Scenario], opened: Open) -> Mitmweb:
    """The sample trace, inspected."""
    flow = scenario(python("openai_chat.py"))
    file.save(flow.folder / "booking.trace.json", sample.trace())
    return opened(flow, "inspect", "booking.trace.json")


def comments(web: Mitmweb) -> list[str]:
    return [flow["comment"] for flow in web.flows()]


def test_every_exchange_and_call_has_its_line(shown: Mitmweb) -> None:
    assert comments(shown) == [
        "side call",
        "mcp bookings · tools/list",
        'turn 1 · openai-chat · search_flights(destination: NBO, date: "2026-12-03"), read_policy(name: travel)'
        " · after 2 failed: 429, 503",
        'mcp bookings · search_flights(destination: NBO, date: "2026-12-03") · 12 ms',
        'turn 2 · openai-chat · create_booking(flight: {"id":"KQ311"},'
        ' passengers: [{"name":"Ada Lovelace","seat":null}]), delete_booking(id: B-0)',
        'mcp bookings · create_booking(flight: {"id":"KQ311"}, passengers: [{"name":"Ada Lovelace","seat":null}],'
        " notify: true) · ✗ error · 1,840 ms",
        "mcp bookings · delete_booking(id: B-0) · refused by the spec · ✗ error · 0 ms",
        "mcp bookings · audit(event: booked) · 3 ms",
        label.diverged(3, sample.diverged().headline),
    ]
    assert [flow["marked"] for flow in shown.flows()] == ["", "", "", "", "", "", "⛔", "", "🔴"]


def test_turns_are_shown_as_conversations(shown: Mitmweb) -> None:
    turn = shown.flows()[4]
    assert shown.text(turn, "request") == (
        "# turn 2 · openai-chat · gpt-5-mini · equal under pins: today\n"
        "# tools offered: search_flights, create_booking, send_mail\n"
        "\nsystem: |\n  You are a travel assistant. Book only what the customer confirmed.\n  Today is 2026-12-02.\n"
        "\nuser: |\n  Book me a flight to Nairobi tomorrow, and mail me the receipt\n"
        '\nassistant:\n  search_flights:  # call_1\n    destination: NBO\n    date: "2026-12-03"\n'
        "  read_policy:  # call_2\n    name: travel\n"
        "\ntool:\n  search_flights:  # call_1\n    flights:\n      - id: KQ311\n"
        '\ntool:\n  read_policy: "policies/travel.md: no such file"  # call_2\n'
    )
    assert shown.text(turn, "response") == (
        "# status 200 · gpt-5-mini-2026-08-01 · stop: tool_calls · 762 in / 41 out tokens\n"
        "\ncalls:\n  create_booking:  # call_3\n    flight:\n      id: KQ311\n    passengers:\n"
        "      - name: Ada Lovelace\n        seat: null\n  delete_booking:  # call_4\n    id: B-0\n"
    )


def test_a_divergence_says_what_differs(shown: Mitmweb) -> None:
    turn = shown.flows()[-1]
    assert f"# diverged: {sample.diverged().headline}" in shown.text(turn, "request")
    said = shown.text(turn, "response")
    assert "recorded: You are a travel assistant. Book only what the customer confirmed." in said
    assert "sent:     You are a travel assistant. Book whatever is cheapest." in said
    assert turn["response"]["status_code"] == 400


def test_mcp_messages_are_shown_as_calls_and_results(shown: Mitmweb) -> None:
    search, create, refused = (shown.flows()[place] for place in (3, 5, 6))
    assert shown.text(search, "request") == 'tools/call search_flights:\n  destination: NBO\n  date: "2026-12-03"\n'
    assert "structuredContent:\n  flights:\n    - id: KQ311\n" in shown.text(search, "response")
    assert shown.text(create, "response") == "# the tool says that it failed\nresult: sold out\n"
    assert shown.text(refused, "response").startswith("# refused by the spec\n")


def test_only_this_machine_gets_in_and_only_with_the_token(shown: Mitmweb) -> None:
    assert shown.status("/") == 403
    assert shown.status("/flows") == 403
    assert shown.status(f"/flows?token={shown.token[:-1]}x") == 403
    assert shown.status(f"/flows?token={shown.token}") == 200
    others = {str(info[4][0]) for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    assert not any(shown.reachable(host) for host in others if not host.startswith("127."))


def test_the_token_is_nobody_elses_and_no_process_shows_it(shown: Mitmweb) -> None:
    assert len(shown.token) >= 32
    assert not [p for p in shown.started.processes() if shown.token in " ".join(p.cmdline())]


def test_ctrl_c_is_the_end_and_no_error(shown: Mitmweb) -> None:
    assert shown.end().code == 0


def test_links_to_flows_stay_good(scenario: Callable[..., Scenario], opened: Open) -> None:
    flow = scenario(python("openai_chat.py"))
    file.save(flow.folder / "booking.trace.json", sample.trace())
    seen = [[shown["id"] for shown in opened(flow, "inspect", "booking.trace.json").flows()] for _ in range(2)]
    assert seen[0] == seen[1]


def test_what_cannot_be_read_is_said_and_nothing_opens(scenario: Callable[..., Scenario]) -> None:
    flow = scenario(python("openai_chat.py"))
    (flow.folder / "bad.trace.json").write_text("{}")
    outcome = flow.cli("inspect", "bad.trace.json")
    assert outcome.code == 2
    assert "bad.trace.json:1: the document: is not a cassette" in outcome.stderr
    outcome = flow.cli("inspect", "nowhere")
    assert outcome.code == 2
    assert "'nowhere' is no trace, spec, run folder or run id" in outcome.stderr


def test_a_port_that_is_taken_is_said(scenario: Callable[..., Scenario]) -> None:
    flow = scenario(python("openai_chat.py"))
    file.save(flow.folder / "booking.trace.json", sample.trace())
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        outcome = flow.cli("inspect", "booking.trace.json", "--port", str(port))
    assert outcome.code == 2
    assert f"port {port} for mitmweb" in outcome.stderr


def test_every_dialect_is_recorded_and_replayed_live(
    planned: Callable[..., Scenario], opened: Open, upstream: Upstream
) -> None:
    requests = [
        chat(),
        chat("stream, please", stream=True),
        messages(stream=True),
        {"path": "/v1/responses", "body": {"model": "brain-1", "input": "How is Nairobi?"}},
        {"path": "/v1/models", "method": "GET"},
    ]
    flow = planned(requests)
    recording = opened(flow, "record", str(flow.spec.relative_to(flow.folder)), "--web")
    names = ["openai-chat", "openai-chat", "anthropic-messages", "openai-responses"]
    kept = recording.flows()
    assert [f["comment"].split(" · ")[1:3] for f in kept[:4]] == [[f"turn {n}", d] for n, d in enumerate(names, 1)]
    assert kept[4]["comment"].endswith("side call")
    for turn in kept[:4]:
        assert "Nairobi" in recording.text(turn, "request") or "stream, please" in recording.text(turn, "request")
        assert recording.text(turn, "response").startswith("# status 200 · brain-1")
    answers = [recording.text(turn, "response") for turn in kept[:4]]
    outcome = recording.end()
    assert (outcome.code, outcome.ids) == (0, [])

    asked = len(upstream.seen)
    replaying = opened(flow, "run", str(flow.spec.relative_to(flow.folder)), "--web")
    replayed = replaying.flows()
    assert [f["comment"] for f in replayed] == [f["comment"] for f in kept]
    assert "equal byte for byte" in replaying.text(replayed[0], "request")
    assert [replaying.text(f, "response") for f in replayed[:4]] == answers
    assert replaying.end().code == 0
    assert len(upstream.seen) == asked


def test_a_divergence_is_marked_while_it_runs_and_decides_the_exit_code(
    planned: Callable[..., Scenario], opened: Open
) -> None:
    flow = planned([chat()])
    assert flow.record().code == 0
    flow.plan([chat("How is Mombasa?")])
    web = opened(flow, "run", str(flow.spec.relative_to(flow.folder)), "--web")
    turn = web.flows()[0]
    assert turn["marked"] == "🔴"
    assert "✗ diverged · turn 1: messages[1].content differs" in turn["comment"]
    assert "How is Mombasa?" in web.text(turn, "request")
    assert "recorded: How is Nairobi?" in web.text(turn, "response")
    outcome = web.end()
    assert (outcome.code, outcome.ids[0]) == (1, "model.divergence")


def test_the_replay_button_reaches_nobody(planned: Callable[..., Scenario], opened: Open, upstream: Upstream) -> None:
    """mitmweb would send a request again; at record that would be a second bill, at replay a way out."""
    flow = planned([chat()])
    web = opened(flow, "record", str(flow.spec.relative_to(flow.folder)), "--web")
    asked = len(upstream.seen)
    turn = web.flows()[0]
    web.send("POST", f"/flows/{turn['id']}/replay")
    again = web.until(lambda flow: "error" in flow)
    assert "no connection leaves the boundary" in again["error"]["msg"]
    assert len(upstream.seen) == asked


def test_flows_can_be_saved_and_hold_no_key(planned: Callable[..., Scenario], opened: Open) -> None:
    flow = planned([chat()])
    flow.shell["FLOWPROOF_AGENT_KEY"] = "sk-very-secret-key-4711"
    web = opened(flow, "record", str(flow.spec.relative_to(flow.folder)), "--web")
    saved = web.get("/flows/dump")
    assert b"sk-very-secret" not in saved
    assert b"sk-very-secret" not in web.get("/flows")
    (read,) = FlowReader(io.BytesIO(saved)).stream()
    assert isinstance(read, http.HTTPFlow)
    assert read.metadata["flowproof"]["dialect"] == "openai-chat"
    assert read.request.headers["authorization"] == "(hidden by flowproof)"
    assert json.loads(read.request.content or b"")["model"] == "brain-1"


def test_people_see_it_in_their_browser(shown: Mitmweb, browser: Browser, picture: Picture) -> None:
    browser.screen(1400, 800)
    browser.open(shown.url)
    browser.wait_for(f"({_ROWS}).length === 9")
    browser.picture(picture("list"), whole=False)
    for place, side, words, name in (
        (4, "Request", "Book only what the customer confirmed", "request"),
        (4, "Response", "762 in / 41 out tokens", "response"),
        (8, "Response", "Book whatever is cheapest", "divergence"),
        (3, "Response", "structuredContent", "mcp"),
    ):
        browser.js(f"({_ROWS})[{place}].click()")
        browser.wait_for(f"({_tab(side)})")
        browser.js(f"({_tab(side)}).click()")
        browser.wait_for(f"document.querySelector('.flow-detail').innerText.includes({json.dumps(words)})")
        browser.picture(picture(name), whole=False)


_ROWS = "[...document.querySelectorAll('.flow-table tbody tr')].filter(row => row.children.length > 2)"


def _tab(name: str) -> str:
    return f"[...document.querySelectorAll('.nav-tabs a')].find(tab => tab.textContent.trim() === {json.dumps(name)})"


def test_a_run_is_inspected_by_its_folder_and_by_a_spec(planned: Callable[..., Scenario], opened: Open) -> None:
    flow = planned([chat()])
    assert flow.record().code == 0
    assert flow.run().code == 0
    latest = opened(flow, "inspect")
    both = opened(flow, "inspect", "latest", str(flow.spec.relative_to(flow.folder)))
    assert comments(latest) == [line := 'turn 1 · openai-chat · "Told: nothing \N{CLOUD WITH RAIN}"']
    assert comments(both) == [f"flow · {line}"] * 2


def test_nothing_is_left_when_the_terminal_goes(shown: Mitmweb) -> None:
    """The CLI killed outright: mitmweb sees its control socket end."""
    processes: list[Any] = shown.started.processes()
    shown.started.process.kill()
    shown.started.finish()
    for process in processes:
        process.wait(20)


def test_the_report_of_a_real_run_is_written(planned: Callable[..., Scenario], tmp_path: Path) -> None:
    flow = planned([chat()])
    page = tmp_path / "deep" / "er" / "report.html"
    assert flow.record("--html", str(page)).code == 0
    said = page.read_text(encoding="utf-8")
    assert "Recorded" in said and "How is Nairobi?" in said and "Told: nothing" in said
    assert (flow.folder / ".flowproof/runs/latest/report.html").read_text(encoding="utf-8") == said


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_mcp_lanes_are_seen_live_whatever_their_transport(
    scenario: Callable[..., Scenario], opened: Open, listening: Listen, tmp_path: Path, transport: str
) -> None:
    words = [sys.executable, str(MCP / "servers" / "weather.py"), str(tmp_path / "notes.txt")]
    server: dict[str, Any] = {"name": "weather", "command": words}
    handle = "${flowproof.mcp_server.weather}"
    if transport == "http":
        server = {"name": "weather", "url": listening([*words, "{port}"], {}).url}
        handle = "${flowproof.mcp_url.weather}"
    command = [sys.executable, str(MCP / "agent.py"), handle]
    flow = scenario(command, ["assert_tool_call: get_weather where city equals Nairobi"], mcp=[server])
    for phase in ("record", "run"):
        web = opened(flow, phase, str(flow.spec.relative_to(flow.folder)), "--web")
        call = web.until(lambda flow: "weather · get_weather(city: Nairobi)" in flow["comment"])
        assert web.text(call, "request").startswith("tools/call get_weather:\n  city: Nairobi\n")
        assert "result: " in web.text(call, "response")
        assert web.end().code == 0
