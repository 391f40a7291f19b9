"""Who answers a contract file's calls: its servers, its fixtures, or its fixtures before its servers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from flowproof_addons import FlowproofError
from flowproof_runner.contract.file import ContractFile
from flowproof_runner.contract.servers import AnsweringServer
from flowproof_runner.drivers.backend import ToolBackend
from flowproof_runner.drivers.fixtures import Fixtures

if TYPE_CHECKING:
    from flowproof_runner.drivers.mcp_backend import Server


class UnsetVariable(FlowproofError):
    """A server needs an environment variable that is not set."""


def answering(file: ContractFile, cwd: Path, env: Mapping[str, str]) -> ToolBackend:
    """The backend the file itself asks for. In version 0.1 servers leave nothing to the fixtures.

    Raises UnsetVariable.
    """
    fixtures = Fixtures(file.fixtures)
    if not file.servers:
        return fixtures
    from flowproof_runner.drivers.mcp_backend import McpBackend, Mixed

    servers = McpBackend([_server(each, file.path, cwd, env) for each in file.servers])
    return servers if file.version == "0.1" or not file.fixtures else Mixed(fixtures, servers)


def _server(server: AnsweringServer, path: Path, cwd: Path, env: Mapping[str, str]) -> Server:
    from flowproof_runner.drivers.mcp_backend import HttpServer, StdioServer

    def filled(text: str) -> str:
        return _filled(text, env, f"{path}: mcp server {server.name}") if server.variables else text

    def each(texts: Mapping[str, str]) -> dict[str, str]:
        return {name: filled(text) for name, text in texts.items()}

    if server.url:
        return HttpServer(server.name, filled(server.url), each(server.headers), server.startup_s, server.call_s)
    return StdioServer(
        name=server.name,
        words=tuple(map(filled, server.command)),
        cwd=(path.absolute().parent if server.variables and server.cwd else cwd) / server.cwd,
        env={**env, **each(server.env)},
        startup_s=server.startup_s,
        call_s=server.call_s,
    )


def _filled(text: str, env: Mapping[str, str], where: str) -> str:
    from flowproof_runner.spec import variables

    try:
        return variables.filled(text, env)
    except variables.UnsetError as error:
        raise UnsetVariable(f"{where}: environment variable {error} is not set") from error
