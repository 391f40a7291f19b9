"""A spec's `mcp:` as the boundary takes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from flowproof_addons.session import McpConfirm, McpServer, McpTool
from flowproof_runner.evidence.names import bare
from flowproof_runner.expectations.ast import CallAssertion, PlacedStep
from flowproof_runner.expectations.contract.model import Calls, Confirmation, Contract
from flowproof_runner.spec.file import LoadedSpec
from flowproof_runner.spec.mcp import Server
from flowproof_runner.spec.session import results

_STARTUP_S = 10.0


def servers(spec: LoadedSpec, contract: Contract) -> tuple[McpServer, ...]:
    """The servers of a (resolved) spec, with the calls its `enforce:` refuses before they get there."""
    enforce = spec.spec.enforce
    never = tuple(forbidden(spec.steps, contract)) if "forbidden" in enforce else ()
    confirm = contract.approvals if "confirmation" in enforce else ()
    return tuple(_server(server, spec.path.parent, never, confirm) for server in spec.spec.mcp)


def _server(server: Server, beside: Path, never: Iterable[str], confirm: Iterable[Confirmation]) -> McpServer:
    return McpServer(
        name=server.name,
        command=server.command or (),
        url=server.url or "",
        headers=server.headers,
        env=server.env,
        cwd=str((beside / server.cwd).absolute()) if server.cwd else "",
        port=server.port or 0,
        tools=tuple(
            McpTool(
                name=tool.name,
                results=results(tool) if tool.mocked else (),
                repeat=not tool.results,
                tool_schema=tool.tool_schema,
            )
            for tool in server.tools
        ),
        forbidden=tuple(dict.fromkeys(bare(tool, server.name) for tool in never)),
        confirm=tuple(_approval(expectation, server.name) for expectation in confirm),
        startup_s=server.limits.startup or _STARTUP_S,
    )


def forbidden(steps: Iterable[PlacedStep], contract: Contract) -> Iterator[str]:
    """Tools that an unconditional `assert_no_tool_call` of the whole run or the contract rules out."""
    for each in steps:
        if (
            each.user_turn is None
            and isinstance(each.step, CallAssertion)
            and each.step.kind == "no_call"
            and not each.step.clauses
        ):
            yield each.step.tool
    for ban in contract.bans:
        if not _conditional(ban):
            yield from ban.tools


def _conditional(calls: Calls) -> bool:
    """What a call's arguments or the run's outcome decide cannot be refused beforehand by name."""
    return calls.such is not None or calls.when is not None


def _approval(expectation: Confirmation, server: str) -> McpConfirm:
    """Before a call only the answer of an asking tool is there to go by; any other source refuses every call."""
    visible = expectation.by not in ("any", "adapter", "elicitation") and expectation.approves is None
    by = expectation.by.replace("/", ".").rpartition(".")[2] if visible else ""
    return McpConfirm(tool=bare(expectation.tool, server), by=by, bound=expectation.bound)
