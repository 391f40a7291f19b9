"""What a server shows, from the servers themselves; and the command that keeps it."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from flowproof_runner.cli.mcp import app
from flowproof_runner.drivers.mcp_client import McpFailure
from flowproof_runner.mcp.inspection import Target, inspect
from flowproof_runner.surface.surface import SnapshotError, load, save

MODERN_ONLY = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    method, meta = message["method"], message.get("params", {}).get("_meta", {})
    answer = {"jsonrpc": "2.0", "id": message.get("id")}
    if meta.get("io.modelcontextprotocol/protocolVersion") != "2026-07-28":
        answer["error"] = {"code": -32022, "message": "unsupported"}
    elif method == "server/discover":
        answer["result"] = {"capabilities": {"tools": {}}, "serverInfo": {"name": "new", "version": "9"}}
    else:
        more = "cursor" not in message["params"]
        answer["result"] = {"tools": [{"name": "b" if more else "a"}], **({"nextCursor": "2"} if more else {})}
    print(json.dumps(answer), flush=True)
"""


def modern(tmp_path: Path) -> tuple[str, ...]:
    script = tmp_path / "modern.py"
    script.write_text(MODERN_ONLY)
    return (sys.executable, str(script))


def test_a_server_that_speaks_only_the_new_protocol_is_asked_in_it_and_all_pages_are_read(tmp_path: Path) -> None:
    found = inspect(Target(modern(tmp_path)))
    assert found.server == {"name": "new", "version": "9"}
    assert found.protocol == "2026-07-28"
    assert found.tools == ({"name": "a"}, {"name": "b"})


@pytest.mark.parametrize("words", [("/no/such/server",), (sys.executable, "-c", "pass")])
def test_a_server_that_is_none_is_named(words: tuple[str, ...]) -> None:
    with pytest.raises(McpFailure):
        inspect(Target(words, timeout_s=5))


def test_a_snapshot_survives_its_file_and_a_bare_list_of_tools_is_one(tmp_path: Path) -> None:
    found = inspect(Target(modern(tmp_path)))
    save(tmp_path / "deep" / "new.json", found)
    assert load(tmp_path / "deep" / "new.json") == found
    (tmp_path / "bare.json").write_text('[{"name": "a"}]')
    assert load(tmp_path / "bare.json").tools == ({"name": "a"},)


@pytest.mark.parametrize("text", ["", "3", '"x"'])
def test_what_is_no_snapshot_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(SnapshotError):
        load(tmp_path / "x.json")


def test_snapshot_writes_tells_changes_and_checks(tmp_path: Path) -> None:
    run = CliRunner()
    file, server = tmp_path / "new.json", list(modern(tmp_path))
    first = run.invoke(app, ["snapshot", str(file), "--", *server])
    assert (first.exit_code, first.stdout) == (0, f"wrote {file} · 2 tools\n")
    assert run.invoke(app, ["snapshot", "--check", str(file), "--", *server]).exit_code == 0

    Path(server[1]).write_text(MODERN_ONLY.replace('"b" if', '"c" if'))
    checked = run.invoke(app, ["snapshot", "--check", str(file), "--", *server])
    assert checked.exit_code == 1
    assert checked.stdout == f"breaking   tool b: is gone\ncompatible tool c: is new\n{file}: 2 changes\n"
    assert [tool["name"] for tool in json.loads(file.read_text())["tools"]] == ["a", "b"]
    assert "breaking   tool b: is gone" in run.invoke(app, ["snapshot", str(file), "--", *server]).stdout
    assert run.invoke(app, ["snapshot", "--check", str(file), "--", *server]).exit_code == 0


def test_inspect_shows_tools_with_their_arguments() -> None:
    own = Path(__file__).parents[2] / "e2e" / "mcp" / "servers" / "own.py"
    shown = CliRunner().invoke(
        app, ["inspect", "--timeout", "60", "--", sys.executable, str(own)], env=dict(os.environ)
    )
    assert shown.exit_code == 0, shown.output
    assert "  echo(text, delay?: number)  Say it again, after a while." in shown.stdout
    assert "resource templates (1)" in shown.stdout
