"""Today's clients against today's servers: record, take the server away, replay over either transport."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from tests.e2e.mcp.lanes import CLIENTS, HERE, NODE_MODULES, PYTHON_1, Client, Listening, Outcome

from flowproof_addons.session import McpServer
from flowproof_addons.trace.model import JsonValue

type Transport = str
type Listen = Callable[[Sequence[str], Mapping[str, str]], Listening]

REPLAYS = int(os.environ.get("FLOWPROOF_MCP_REPLAYS", "1"))
"""Per transport."""

OWN = HERE / "servers" / "own.py"
EVERYTHING = NODE_MODULES / "@modelcontextprotocol/server-everything/dist/index.js"

OWN_SCRIPT: Sequence[JsonValue] = [
    ["tools"],
    ["call", "echo", {"text": "a"}],
    ["parallel", [["echo", {"text": "1"}], ["echo", {"text": "2"}], ["echo", {"text": "3"}], ["echo", {"text": "4"}]]],
    ["progress", "steps", {"count": 3}],
    ["call", "chatty", {}],
    ["call", "who", {}],
    ["call", "fail", {}],
    ["read", "note://x"],
    ["prompt", "greet", {"name": "Ada"}],
    ["cancel", "echo", {"text": "late", "delay": 5}, 0.3],
    ["call", "echo", {"text": "z"}],
]
EVERYTHING_SCRIPT: Sequence[JsonValue] = [
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
    ["progress", "trigger-long-running-operation", {"duration": 0.5, "steps": 3}],
    ["call", "trigger-sampling-request", {"prompt": "hi", "maxTokens": 5}],
    ["call", "trigger-elicitation-request", {}],
    ["call", "get-roots-list", {}],
    ["call", "no-such-tool", {}],
    ["resources"],
    ["prompts"],
    ["cancel", "trigger-long-running-operation", {"duration": 5, "steps": 2}, 0.3],
    ["call", "echo", {"message": "z"}],
]


def server(kind: str, transport: Transport, listening: Listen) -> tuple[McpServer, Callable[[], None]]:
    """The declared server, and what ends it."""
    if kind == "everything" and not EVERYTHING.exists():
        pytest.skip("server-everything is not installed: run tests/e2e/mcp/peers/install")
    argv = [sys.executable, str(OWN)] if kind == "own" else ["node", str(EVERYTHING)]
    if transport == "stdio":
        return McpServer(name="peer", command=tuple(argv)), lambda: None
    more = ["{port}"] if kind == "own" else ["streamableHttp"]
    started = listening([*argv, *more], {"PORT": "{port}"})
    return McpServer(name="peer", url=started.url), started.stop


def gone(declared: McpServer) -> McpServer:
    """The same server, where nothing is any more: a replay that starts or calls anything fails."""
    if declared.url:
        return declared
    return declared.model_copy(update={"command": ("/no/such/server",)})


@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize("kind", ["own", "everything"])
@pytest.mark.parametrize("name", CLIENTS)
def test_a_recorded_lane_replays_over_both_transports_with_the_server_gone(
    name: str,
    kind: str,
    transport: Transport,
    client: Callable[[str], Client],
    run: Callable[..., Outcome],
    listening: Listen,
) -> None:
    program, script = client(name), OWN_SCRIPT if kind == "own" else EVERYTHING_SCRIPT
    declared, stop = server(kind, transport, listening)
    recorded = run(program, script, declared, transport=transport)
    stop()
    assert recorded.findings == ()
    for over in ("stdio", "http"):
        for _ in range(REPLAYS):
            replayed = run(program, script, gone(declared), recorded.lane, over)
            assert replayed.said == recorded.said
            assert replayed.findings == ()


TIME = str(PYTHON_1.with_name("mcp-server-time"))
GIT = str(PYTHON_1.with_name("mcp-server-git"))
FILES = NODE_MODULES / "@modelcontextprotocol/server-filesystem/dist/index.js"
MEMORY = NODE_MODULES / "@modelcontextprotocol/server-memory/dist/index.js"

SERVERS: dict[str, tuple[list[str], list[JsonValue]]] = {
    "time": ([TIME, "--local-timezone=UTC"], [["call", "get_current_time", {"timezone": "Europe/Berlin"}]]),
    "git": ([GIT], [["call", "git_log", {"repo_path": "{folder}/repository"}], ["call", "git_status", {}]]),
    "filesystem": (
        ["node", str(FILES), "{folder}"],
        [
            ["call", "write_file", {"path": "{folder}/note.txt", "content": "one"}],
            ["call", "read_text_file", {"path": "{folder}/note.txt"}],
            ["call", "read_text_file", {"path": "/etc/passwd"}],
        ],
    ),
    "memory": (
        ["node", str(MEMORY)],
        [
            ["call", "create_entities", {"entities": [{"name": "Ada", "entityType": "person", "observations": []}]}],
            ["call", "read_graph", {}],
        ],
    ),
}


@pytest.mark.parametrize("name", SERVERS)
@pytest.mark.parametrize("client_name", ["py-2-auto", "ts-2-auto"])
def test_reference_servers_replay_with_the_server_and_its_files_gone(
    name: str, client_name: str, client: Callable[[str], Client], run: Callable[..., Outcome], tmp_path: Path
) -> None:
    argv, calls = SERVERS[name]
    if not Path(argv[1] if argv[0] == "node" else argv[0]).exists():
        pytest.skip(f"the {name} server is not installed: run tests/e2e/mcp/peers/install")
    folder = tmp_path / "data"
    folder.mkdir()
    if name == "git":
        _repository(folder / "repository")
    env = {"MEMORY_FILE_PATH": str(folder / "memory.json")}
    declared = McpServer(name="peer", command=tuple(w.format(folder=folder) for w in argv), env=env)
    script = [["tools"], *_filled(calls, str(folder))]
    recorded = run(client(client_name), script, declared)
    assert recorded.findings == ()
    shutil.rmtree(folder)
    replayed = run(client(client_name), script, gone(declared), recorded.lane)
    assert (replayed.said, replayed.findings) == (recorded.said, ())
    assert not folder.exists()


def _filled(value: JsonValue, folder: str) -> list[JsonValue]:
    def fill(item: JsonValue) -> JsonValue:
        match item:
            case str():
                return item.replace("{folder}", folder)
            case list():
                return [fill(each) for each in item]
            case dict():
                return {key: fill(each) for key, each in item.items()}
            case _:
                return item

    filled = fill(value)
    assert isinstance(filled, list)
    return filled


def _repository(folder: Path) -> None:
    import subprocess

    folder.mkdir()
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    subprocess.run(["git", "-C", str(folder), *identity, "commit", "-q", "--allow-empty", "-m", "one"], check=True)
