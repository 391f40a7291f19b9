"""Everyday programs work contained as they do uncontained."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from threading import Thread

import pytest
from tests.e2e.containment.compiled import program
from tests.e2e.containment.harness import Harness


class Ok(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def url() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Ok) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://localhost:{server.server_address[1]}/"
        server.shutdown()
        thread.join()


PYTHON = {
    "urllib": "import urllib.request as u, sys; print(u.urlopen(sys.argv[1]).status)",
    "requests": "import requests, sys; print(requests.get(sys.argv[1]).status_code)",
    "httpx": "import httpx, sys; print(httpx.get(sys.argv[1]).status_code)",
    "httpx_async": (
        "import asyncio, httpx, sys\n"
        "async def go():\n async with httpx.AsyncClient() as c: print((await c.get(sys.argv[1])).status_code)\n"
        "asyncio.run(go())"
    ),
}


def same(harness: Harness, *words: str | Path, env: dict[str, str] | None = None) -> str:
    plain, contained = harness.plain(*words, env=env or {}), harness.contained(*words, env=env or {})
    assert plain.code == 0, plain
    assert (contained.code, contained.out) == (plain.code, plain.out), contained
    assert (contained.report["faults"], contained.report["violations"]) == ([], [])
    return contained.out


@pytest.mark.parametrize("library", PYTHON)
def test_python_clients(harness: Harness, url: str, library: str) -> None:
    if library not in ("urllib",) and not find_spec(library.split("_")[0]):
        pytest.skip(f"{library} is not installed")
    assert same(harness, "python", "-c", PYTHON[library], url) == "200\n"


def test_node_fetch(harness: Harness, url: str) -> None:
    needs("node")
    assert same(harness, "node", "-e", f"fetch('{url}').then(r => console.log(r.status))") == "200\n"


def test_curl(harness: Harness, url: str) -> None:
    needs("curl")
    assert same(harness, "curl", "-s", url) == "ok"


@pytest.mark.parametrize("language", ["go", "rust"])
def test_go_and_rust(harness: Harness, shared: Path, url: str, language: str) -> None:
    assert same(harness, program(shared, language), url[7:-1]).startswith("200\n")


def needs(tool: str) -> None:
    if not shutil.which(tool):
        pytest.skip(f"no {tool} here")


def test_git_commits_clones_and_cleans(harness: Harness) -> None:
    needs("git")
    who = {f"GIT_{role}_{what}": "x@example.test" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    fixed = {"GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z"}
    script = (
        "rm -rf a b; git init -q a; cd a; echo x > f; git add f; git commit -qm m; git gc -q; cd ..;"
        " git clone -q a b; git -C b log --format=%H; git -C b rm -q f; git -C b reset -q --hard; ls b"
    )
    assert same(harness, "sh", "-c", script, env=who | fixed).endswith("\nf\n")


@pytest.mark.parametrize("tool", ["pip", "npm"])
def test_package_managers_start(harness: Harness, tool: str) -> None:
    words: tuple[str, ...] = ("python", "-m", "pip", "--version") if tool == "pip" else ("npm", "--version")
    if tool == "npm":
        needs("npm")
    elif not find_spec("pip"):
        words = ("python", "-c", "import ensurepip; print(ensurepip.version())")
    same(harness, *words)


def test_a_server_program_and_a_client_program_in_one_tree(harness: Harness) -> None:
    script = (
        "rm -f log; python3 -m http.server 0 --bind 127.0.0.1 > log 2>&1 & pid=$!;"
        " for i in $(seq 200); do port=$(sed -n 's/.* port \\([0-9]*\\).*/\\1/p' log); [ -n \"$port\" ] && break;"
        " sleep 0.02; done;"
        " curl -s -o /dev/null -w '%{http_code}\\n' http://127.0.0.1:$port/; kill $pid"
    )
    needs("curl")
    needs("python3")
    assert same(harness, "sh", "-c", script, env={"PYTHONUNBUFFERED": "1"}) == "200\n"
