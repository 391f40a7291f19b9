"""The adapter driver of a flow, made from its spec."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from flowproof_runner.drivers.adapter_flow import AdapterFlow
from flowproof_runner.drivers.fixtures import Case
from flowproof_runner.expectations.contract.gate import Gate
from flowproof_runner.expectations.contract.model import Contract
from flowproof_runner.spec.model import Spec
from flowproof_runner.spec.tools import Tool


def driver(
    spec: Spec,
    contract: Contract,
    cwd: Path,
    shell: Mapping[str, str],
    env: Mapping[str, str],
    key_variables: tuple[str, ...],
) -> AdapterFlow:
    """What runs the adapter of a spec, its variables resolved."""
    assert spec.agent.adapter is not None
    enforced = frozenset(spec.enforce)
    return AdapterFlow(
        words=spec.agent.adapter,
        cwd=cwd,
        shell=shell,
        name=spec.name,
        fixtures={tool.name: cases for tool in spec.tools if (cases := fixtures(tool))},
        env=env,
        key_variables=key_variables,
        stdio=frozenset(server.name for server in spec.mcp if server.command is not None),
        gate=Gate(contract, enforced).refusal if enforced else None,
        accepted=spec.agent.expect_exit.accepted,
    )


def fixtures(tool: Tool) -> tuple[Case, ...]:
    """A tool's results as fixtures; none for a tool that is only declared."""
    if not tool.mocked:
        return ()
    if tool.repeated:
        return (Case(tool.result, is_error=tool.is_error),)
    if tool.results:
        return tuple(Case(each, call=number, is_error=tool.is_error) for number, each in enumerate(tool.results))
    return tuple(
        Case(case.result, None if case.call is None else case.call - 1, case.where, case.is_error)
        for case in tool.cases
    )
