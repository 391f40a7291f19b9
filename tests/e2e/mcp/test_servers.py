"""Real servers that misbehave, and ends of every kind: each has a clear outcome, and nothing is left running."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.e2e.mcp.lanes import HERE, Spawned, spawned

from flowproof_addons.mcp.lanes import LaneResult, Lanes
from flowproof_addons.mcp.process import ServerStartError
from flowproof_addons.session import McpServer, Session
from flowproof_addons.trace.model import JsonValue

TRIES = 50
ODD = str(HERE / "servers" / "odd.py")


def odd(way: str, *more: str, call_s: float = 30.0) -> McpServer:
    return McpServer(name="odd", command=(sys.executable, ODD, way, *more), call_s=call_s)


@dataclass(slots=True)
class Stage:
    """An open lane, and the stand-ins spawned from it."""

    lanes: Lanes
    results: dict[str, LaneResult] = field(default_factory=dict)
    spawned: list[Spawned] = field(default_factory=list)

    async def client(self, folder: Path) -> Spawned:
        """Spawn one, as an agent's client in that folder would."""
        self.spawned.append(await spawned(self.lanes.server_path("odd"), folder))
        return self.spawned[-1]


type Scenario = Callable[[Stage], Awaitable[None]]


def run(folder: Path, server: McpServer, scenario: Scenario, recorded: JsonValue = None) -> LaneResult:
    """Open the server's lane, play the scenario, close."""

    async def go() -> LaneResult:
        async with opened(folder, server, recorded) as stage:
            await scenario(stage)
        return stage.results["odd"]

    return asyncio.run(go())


@asynccontextmanager
async def opened(folder: Path, server: McpServer, recorded: JsonValue = None) -> AsyncIterator[Stage]:
    phase: Mapping[str, JsonValue] = {} if recorded is None else {"odd": recorded}
    session = Session(
        id="x", phase="replay" if phase else "record", folder=folder, mcp=(server,), agent_cwd=str(folder)
    )
    lanes = Lanes(session, phase, lambda event: None)
    stage = Stage(lanes)
    try:
        await lanes.start()
        yield stage
    finally:
        stage.results.update(await lanes.close())
        for each in stage.spawned:
            await each.end()


def found(result: LaneResult) -> list[tuple[JsonValue, JsonValue]]:
    return [(entry["id"], entry.get("kind")) for entry in result.findings]


def test_a_line_of_log_on_stdout_is_passed_on_and_remarked(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        agent = await stage.client(tmp_path)
        await agent.opened()
        await agent.call(1)
        assert await agent.line() == b"Loading model weights...\n"
        assert (await agent.hear())["id"] == 1

    result = run(tmp_path, odd("chatter"), scenario)
    assert found(result) == []
    assert isinstance(result.lane, dict)
    assert result.lane["remarks"] == [
        "the server wrote a line to stdout that is not JSON-RPC: b'Loading model weights...\\n'"
    ]


def test_a_server_that_dies_in_a_call_ends_the_agents_pipe_and_fails_the_recording(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        agent = await stage.client(tmp_path)
        await agent.opened()
        await agent.call(1)
        assert await agent.line() == b""
        await agent.process.wait()

    result = run(tmp_path, odd("dies"), scenario)
    assert found(result) == [("mcp.server.died", "problem")]
    assert "mcp.odd: the server ended with status 3 while tools/call was open" in str(result.findings[0]["message"])
    assert result.stderr[0].read_text() == "segmentation fault\n"


def test_a_server_that_hangs_is_given_up_and_the_agent_is_told(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        agent = await stage.client(tmp_path)
        await agent.opened()
        await agent.call(1)
        assert "did not answer in time" in str((await agent.hear())["error"])

    result = run(tmp_path, odd("hangs", call_s=0.3), scenario)
    assert found(result) == [("mcp.server.hung", "problem")]
    assert "did not answer go within 0.3 s" in str(result.findings[0]["message"])


def test_a_server_that_cannot_be_started_or_ends_at_once_fails_before_the_agent(tmp_path: Path) -> None:
    async def never(stage: Stage) -> None:
        raise AssertionError("the agent was started")

    with pytest.raises(ServerStartError, match=r"cannot be started in .*: No such file"):
        run(tmp_path, McpServer(name="odd", command=("/no/such/server",)), never)
    with pytest.raises(
        ServerStartError, match=r"ended with status 1 after .* before the agent started; .* ends with: no licence"
    ):
        run(tmp_path, odd("absent"), never)


def test_answers_in_another_order_reach_the_calls_they_are_for_in_both_phases(tmp_path: Path) -> None:
    orders: list[list[JsonValue]] = []

    async def scenario(stage: Stage) -> None:
        agent = await stage.client(tmp_path)
        await agent.opened()
        for number in (1, 2, 3):
            await agent.call(number, n=number)
        heard = [await agent.hear() for _ in range(3)]
        orders.append([answer["id"] for answer in heard])
        assert all(f"answer {answer['id']}" in str(answer) for answer in heard)

    recorded = run(tmp_path, odd("reversed"), scenario)
    assert found(run(tmp_path, odd("reversed"), scenario, recorded.lane)) == []
    assert orders == [[3, 2, 1], [3, 2, 1]]


def test_ten_megabytes_pass_whole_in_both_phases(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        agent = await stage.client(tmp_path)
        await agent.opened()
        await agent.call(1)
        assert len(await agent.line()) > 10_000_000

    recorded = run(tmp_path, odd("huge"), scenario)
    assert found(recorded) == []
    assert found(run(tmp_path, odd("huge"), scenario, recorded.lane)) == []


def test_the_real_server_gets_the_agents_directory_and_the_declared_environment_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-for-servers")
    server = odd("environment").model_copy(update={"env": {"DECLARED": "1"}})
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    heard: list[dict[str, JsonValue]] = []

    async def scenario(stage: Stage) -> None:
        agent = await stage.client(elsewhere)
        await agent.opened()
        await agent.call(1)
        answer = json.dumps(await agent.hear())
        heard.append(json.loads(json.loads(answer)["result"]["content"][0]["text"]))

    run(tmp_path, server, scenario)
    names = heard[0]["env"]
    assert isinstance(names, list)
    assert heard[0]["cwd"] == str(elsewhere)
    assert "DECLARED" in names
    assert "OPENAI_API_KEY" not in names


def test_each_spawn_has_a_server_of_its_own(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        agents = [await stage.client(tmp_path) for _ in range(3)]
        await asyncio.gather(*(agent.opened() for agent in agents))
        assert len(list(tmp_path.glob("pids-*"))) == 3

    run(tmp_path, odd("stays", str(tmp_path)), scenario)
    assert alive(tmp_path) == []


def alive(folder: Path) -> list[int]:
    """Which of the processes that noted themselves still run."""
    pids = [int(pid) for path in folder.glob("pids-*") for pid in path.read_text().split()]
    assert pids
    return [pid for pid in pids if _runs(pid)]


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return (
        Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z" if sys.platform == "linux" else True
    )


@pytest.mark.parametrize("how", ["eof", signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_however_the_agents_client_ends_its_server_everything_behind_it_is_gone_in_a_fifth_of_a_second(
    tmp_path: Path, how: str | signal.Signals
) -> None:
    """The server and its child heed no signal. On a busy machine the quickest of several counts."""

    async def scenario(stage: Stage) -> None:
        took: list[float] = []
        while not took or (min(took) > 0.2 and len(took) < TRIES):
            agent = await stage.client(tmp_path)
            await agent.opened()
            assert len(alive(tmp_path)) == 2
            began = time.monotonic()
            if isinstance(how, str):
                assert agent.process.stdin is not None
                agent.process.stdin.close()
            else:
                agent.process.send_signal(how)
            await agent.process.wait()
            while alive(tmp_path):
                assert time.monotonic() - began < 10, "left running"
                await asyncio.sleep(0.005)
            took.append(time.monotonic() - began)
        assert min(took) <= 0.2

    run(tmp_path, odd("stays", str(tmp_path)), scenario)


def test_when_the_boundary_itself_is_killed_its_servers_go_with_it(tmp_path: Path) -> None:
    program = f"""
import asyncio, os
from pathlib import Path
from flowproof_addons.mcp.lanes import Lanes
from flowproof_addons.session import McpServer, Session

async def main():
    folder = Path({str(tmp_path)!r})
    server = McpServer(name="odd", command={(sys.executable, ODD, "stays", str(tmp_path))!r})
    session = Session(id="x", phase="record", folder=folder, mcp=(server,), agent_cwd=str(folder))
    await Lanes(session, {{}}, lambda event: None).start()
    os.kill(os.getpid(), 9)

asyncio.run(main())
"""
    ended = subprocess.run([sys.executable, "-c", program], check=False)
    assert ended.returncode == -signal.SIGKILL
    deadline = time.monotonic() + 60
    while alive(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert alive(tmp_path) == []


def test_what_was_asked_before_the_end_of_input_is_still_answered(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        agent = await stage.client(tmp_path)
        await agent.say({"id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}})
        await agent.call(1)
        assert agent.process.stdin is not None
        agent.process.stdin.close()
        assert [(await agent.hear())["id"], (await agent.hear())["id"]] == [0, 1]
        assert await agent.line() == b""

    recorded = run(tmp_path, odd("plain"), scenario)
    run(tmp_path, odd("plain"), scenario, recorded.lane)


def test_a_batch_is_taken_apart_and_answered_in_one_line(tmp_path: Path) -> None:
    """JSON-RPC batches of 2025-03-26; no later revision has them."""

    async def single(stage: Stage) -> None:
        agent = await stage.client(tmp_path)
        await agent.opened()
        for number in (1, 2):
            await agent.call(number)
            await agent.hear()

    async def both(stage: Stage) -> None:
        agent = await stage.client(tmp_path)
        await agent.opened()
        call: JsonValue = {"name": "go", "arguments": {}}
        await agent.raw([{"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call} for number in "ab"])
        answers = json.loads(await agent.line())
        assert [(answer["id"], "result" in answer) for answer in answers] == [("a", True), ("b", True)]

    recorded = run(tmp_path, odd("plain"), single)
    assert found(run(tmp_path, odd("plain"), both, recorded.lane)) == []
    batched = run(tmp_path, odd("plain"), both)
    assert found(batched) == [] and isinstance(batched.lane, dict)
    assert len(str(batched.lane["calls"]).split("'tools/call'")) == 3, "two calls in the lane"
    assert found(run(tmp_path, odd("plain"), both, batched.lane)) == []


def test_both_transports_and_all_sessions_feed_one_lane(tmp_path: Path) -> None:
    async def recorded(stage: Stage) -> None:
        for number in range(3):
            agent = await stage.client(tmp_path)
            await agent.opened()
            await agent.call(1, n=number)
            await agent.hear()

    async def mixed(stage: Stage) -> None:
        host, port = stage.lanes.upstream("odd")
        for number in range(3):
            if number == 1:
                await asyncio.to_thread(posted, f"http://{host}:{port}/mcp", number)
            else:
                agent = await stage.client(tmp_path)
                await agent.opened()
                await agent.call(1, n=number)
                assert "fine" in str(await agent.hear())

    lane = run(tmp_path, odd("plain"), recorded).lane
    result = run(tmp_path, odd("plain"), mixed, lane)
    assert found(result) == [] and isinstance(result.lane, dict)
    assert isinstance(result.lane["calls"], list) and len(result.lane["calls"]) == 3


def posted(url: str, number: int) -> None:
    """A call over HTTP, in a session of its own."""
    headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    opening: JsonValue = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {}}
    for method, params in (("initialize", opening), ("tools/call", {"name": "go", "arguments": {"n": number}})):
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=20) as response:
            headers["mcp-session-id"] = response.headers.get("mcp-session-id") or headers["mcp-session-id"]
            assert "result" in json.load(response)


def test_a_stand_in_that_outlives_its_run_says_so(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        agent = await stage.client(tmp_path)
        await agent.opened()
        path.append(stage.lanes.server_path("odd"))
        copy.write_bytes(Path(path[0]).read_bytes())
        copy.chmod(0o700)

    path: list[str] = []
    copy = tmp_path / "copy"
    run(tmp_path, odd("plain"), scenario)
    assert not Path(path[0]).exists()

    async def late() -> bytes:
        agent = await spawned(str(copy), tmp_path)
        return (await agent.end())[1]

    assert asyncio.run(late()) == b"flowproof: the run this MCP stand-in belongs to is over\n"


def test_a_declared_server_the_agent_never_spawns_fails_with_the_variable_to_use(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        pass

    result = run(tmp_path, odd("plain"), scenario)
    assert result.findings[0]["id"] == "mcp.uncontacted"
    assert "$FLOWPROOF_MCP_SERVER_ODD" in str(result.findings[0]["message"])
    assert found(run(tmp_path, odd("plain"), scenario, {}))[0][0] == "mcp.uncontacted"
