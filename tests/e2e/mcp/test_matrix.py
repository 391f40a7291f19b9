"""Today's clients against today's servers: record, take the server away, replay ten times over either transport."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.e2e.mcp.lanes import HERE, NODE_MODULES, PYTHON_2, Transport, listen
from tests.e2e.mcp.programs import CLIENTS, Client, Outcome, Program, Script, play, program

from flowproof_addons.session import McpServer
from flowproof_addons.trace.model import JsonValue
from flowproof_runner.boundary.client import Boundary
from flowproof_runner.boundary.process import BoundaryProcess

REPLAYS = int(os.environ.get("FLOWPROOF_MCP_REPLAYS", "5"))
"""Over each transport."""
AT_ONCE = 5

TRANSPORTS: tuple[Transport, ...] = ("stdio", "http")
MODULES = NODE_MODULES / "@modelcontextprotocol"


def _nothing(folder: Path) -> None:
    pass


def _repository(folder: Path) -> None:
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]
    repository = str(folder / "repository")
    subprocess.run(["git", "init", "-q", repository], check=True)
    subprocess.run(["git", "-C", repository, *identity, "commit", "-q", "--allow-empty", "-m", "one"], check=True)


@dataclass(frozen=True, slots=True)
class Peer:
    """A real server and what is done with it; `{folder}` is the test's own."""

    argv: tuple[str, ...]
    script: Script
    for_calls: tuple[str, ...]
    """Words that are in what any client says in the end."""
    for_whole: tuple[str, ...] = ()
    """Words that are in what a client says that can do everything."""
    http: tuple[str, ...] | None = None
    """What makes it listen instead."""
    env: Mapping[str, str] = field(default_factory=dict)
    before: Callable[[Path], None] = _nothing


PEERS = {
    "own": Peer(
        (sys.executable, str(HERE / "servers/own.py")),
        [
            ["tools"],
            ["call", "echo", {"text": "a"}],
            ["parallel", [["echo", {"text": str(number)}] for number in range(4)]],
            ["progress", "steps", {"count": 3}],
            ["call", "chatty", {}],
            ["call", "who", {}],
            ["call", "muse", {}],
            ["call", "where", {}],
            ["call", "fail", {}],
            ["read", "note://x"],
            ["prompt", "greet", {"name": "Ada"}],
            ["cancel", "echo", {"text": "late", "delay": 60}, 0.3],
            ["call", "echo", {"text": "z"}],
        ],
        ("echo 3", "logged", "Error executing tool fail", "echo z"),
        ("step 3", "accept: Ada", "stand-in says sampled", "file:///tmp/project", "note x", "Greet Ada.", "cancelled"),
        http=("{port}",),
    ),
    "everything": Peer(
        ("node", str(MODULES / "server-everything/dist/index.js")),
        [
            ["tools"],
            ["call", "echo", {"message": "a"}],
            [
                "parallel",
                [
                    ["echo", {"message": "1"}],
                    ["get-sum", {"a": 1, "b": 2}],
                    ["echo", {"message": "3"}],
                    ["get-structured-content", {"location": "Chicago"}],
                ],
            ],
            ["progress", "trigger-long-running-operation", {"duration": 0.2, "steps": 2}],
            ["call", "trigger-sampling-request", {"prompt": "hi", "maxTokens": 5}],
            ["call", "trigger-elicitation-request", {}],
            ["call", "get-roots-list", {}],
            ["call", "no-such-tool", {}],
            ["resources"],
            ["prompts"],
            ["cancel", "trigger-long-running-operation", {"duration": 60, "steps": 2}, 0.3],
            ["call", "echo", {"message": "z"}],
        ],
        ("Echo: 3", "Light rain", "Echo: z"),
        ("'sampling'", "'elicitation'", "'roots'", "cancelled", "demo://", "Long running operation completed"),
        http=("streamableHttp",),
        env={"PORT": "{port}"},
    ),
    "filesystem": Peer(
        ("node", str(MODULES / "server-filesystem/dist/index.js"), "{folder}"),
        [
            ["tools"],
            ["call", "write_file", {"path": "{folder}/note.txt", "content": "one"}],
            ["call", "read_text_file", {"path": "{folder}/note.txt"}],
            ["call", "read_text_file", {"path": "/etc/passwd"}],
        ],
        ("Successfully wrote", "one", "Access denied"),
    ),
    "memory": Peer(
        ("node", str(MODULES / "server-memory/dist/index.js")),
        [
            ["tools"],
            ["call", "create_entities", {"entities": [{"name": "Ada", "entityType": "person", "observations": []}]}],
            ["call", "read_graph", {}],
        ],
        ("Ada",),
        env={"MEMORY_FILE_PATH": "{folder}/memory.json"},
    ),
    "time": Peer(
        (str(PYTHON_2.with_name("mcp-server-time")), "--local-timezone=UTC"),
        [["tools"], ["call", "get_current_time", {"timezone": "Europe/Berlin"}]],
        ("day_of_week",),
    ),
    "git": Peer(
        (str(PYTHON_2.with_name("mcp-server-git")),),
        [["tools"], ["call", "git_log", {"repo_path": "{folder}/repository"}], ["call", "git_status", {}]],
        ("Ada", "repo_path"),
        before=_repository,
    ),
}
LISTENING: Script = [["listen", [["grow", {}], ["touch", {"uri": "note://x"}]]]]
"""The stream of 2026-07-28: acknowledged first, then events with the id of the request that listens; and a list that
has grown."""


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_what_a_client_did_with_a_server_replays_ten_times_with_the_server_gone(client: Client, tmp_path: Path) -> None:
    trials = [
        Trial(tmp_path / f"{name}-{over}", client, peer, over)
        for name, peer in PEERS.items()
        for over in TRANSPORTS
        if over == "stdio" or peer.http
    ]
    missing = {str(path) for trial in trials for path in trial.missing()}
    if missing:
        pytest.skip(f"run tests/e2e/mcp/peers/install; not installed: {', '.join(sorted(missing))}")

    async def go() -> list[str]:
        with Boundary(BoundaryProcess(tmp_path / "boundary")) as boundary:
            async with program(client, tmp_path) as running:
                found = [(trial.folder.name, await trial.run(boundary, running)) for trial in trials]
        return [f"{name}: {wrong}" for name, wrong in found if wrong]

    wrong = asyncio.run(go())
    assert not wrong, "\n\n".join(wrong)


@dataclass(slots=True)
class Trial:
    """One client with one server."""

    folder: Path
    client: Client
    peer: Peer
    transport: Transport

    def missing(self) -> list[Path]:
        """What is needed and not there."""
        program = Path(self.peer.argv[1] if self.peer.argv[0] == "node" else self.peer.argv[0])
        return [path for path in (self.client.needs, program) if path is not None and not path.exists()]

    async def run(self, boundary: Boundary, running: Program) -> object:
        """Record, end the server, remove its files, replay; what is wrong, if anything."""
        data = self.folder / "data"
        data.mkdir(parents=True)
        self.peer.before(data)
        listens = self.client.name == "py-2-auto" and self.peer is PEERS["own"]
        script = [*_filled(self.peer.script, data), *(LISTENING if listens else ())]
        declared, stop = self._server(data)
        try:
            recorded = await play(boundary, self.folder, running, script, declared, self.transport)
        finally:
            stop()
        shutil.rmtree(data)
        said = str(recorded.said)
        expected = (*self.peer.for_calls, *(self.peer.for_whole if self.client.whole else ()))
        lost = [words for words in expected if words not in said]
        if recorded.findings or lost:
            return recorded.findings or f"{lost} not in what was recorded: {said}"
        if listens and not ("'ToolsListChanged', 'ResourceUpdated'" in said and "'fail', 'grown'" in said):
            return f"nothing was heard on the listening stream: {said}"
        if declared.command:
            declared = declared.model_copy(update={"command": ("/no/such/server",)})
        return await self._replay(boundary, running, script, declared, recorded)

    async def _replay(
        self, boundary: Boundary, running: Program, script: Script, gone: McpServer, recorded: Outcome
    ) -> object:
        gate = asyncio.Semaphore(AT_ONCE)

        async def once(over: Transport) -> object:
            async with gate:
                replayed = await play(boundary, self.folder, running, script, gone, over, recorded.lane)
            same = replayed.said == recorded.said
            return replayed.findings or (None if same else _parted(over, recorded.said, replayed.said))

        wrong = await asyncio.gather(*(once(over) for over in TRANSPORTS for _ in range(REPLAYS)))
        return [each for each in wrong if each] or None

    def _server(self, data: Path) -> tuple[McpServer, Callable[[], None]]:
        argv = tuple(word.replace("{folder}", str(data)) for word in self.peer.argv)
        env = {name: value.replace("{folder}", str(data)) for name, value in self.peer.env.items()}
        if self.transport == "stdio":
            return McpServer(name="peer", command=argv, env=env), lambda: None
        started = listen([*argv, *(self.peer.http or ())], env)
        return McpServer(name="peer", url=started.url), started.stop


def _parted(over: Transport, recorded: JsonValue, replayed: JsonValue) -> object:
    """The steps that came out differently."""
    if isinstance(recorded, dict) and isinstance(replayed, dict):
        recorded, replayed = ([*_list(said["out"]), said["seen"]] for said in (recorded, replayed))
    steps = zip(_list(recorded), _list(replayed), strict=False)
    return over, [(number, *pair) for number, pair in enumerate(steps) if pair[0] != pair[1]]


def _list(value: JsonValue) -> list[JsonValue]:
    assert isinstance(value, list)
    return value


def _filled(value: Script, folder: Path) -> list[JsonValue]:
    def fill(item: JsonValue) -> JsonValue:
        match item:
            case str():
                return item.replace("{folder}", str(folder))
            case list():
                return [fill(each) for each in item]
            case dict():
                return {key: fill(each) for key, each in item.items()}
            case _:
                return item

    return [fill(item) for item in value]
