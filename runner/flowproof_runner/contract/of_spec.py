"""The contract inside a spec: its `expect:`, and the limits of its `mcp:` servers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from pydantic import ValidationError

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.contract.fixture_file import read_value
from flowproof_runner.contract.servers import limited
from flowproof_runner.expectations.contract.language.grammar import Expect, compile_expect
from flowproof_runner.expectations.contract.lint import Surroundings, lint, place
from flowproof_runner.expectations.contract.model import Contract, Lane
from flowproof_runner.mcp.servers import forbidden
from flowproof_runner.reading import errors
from flowproof_runner.reading.document import Document
from flowproof_runner.reading.fields import Part
from flowproof_runner.reading.problems import Complaint, Loc, Problem, SpecError
from flowproof_runner.reading.reader import read
from flowproof_runner.reading.scalars import Node
from flowproof_runner.spec.file import LoadedSpec, text_of
from flowproof_runner.spec.mcp import Server


class _Holder(Part):
    expect: Expect = Expect()


def contract_of(spec: LoadedSpec) -> Contract:
    """The contract of a spec; without `expect:` and limits it is empty.

    Raises SpecError with everything that is wrong with it.
    """
    contract, problems = _expected(spec.document)
    problems += [
        spec.document.problem(("expect", *place(finding.path)), Complaint(finding.message))
        for finding in lint(contract, _surroundings(spec))
    ]
    problems += [spec.document.problem(("enforce",), complaint) for complaint in _idle(spec, contract)]
    lanes = tuple(_lanes(spec, problems))
    if problems:
        raise SpecError(problems)
    return Contract(expectations=(*contract.expectations, *lanes), strict=contract.strict)


def with_contract(error: SpecError, path: Path) -> SpecError:
    """The same error with what is wrong with the `expect:` of that spec: everything is told at once."""
    try:
        _, problems = _expected(read(text_of(path), str(path)))
    except SpecError as also:
        problems = list(also.problems)
    return SpecError((*error.problems, *problems))


def _expected(document: Document) -> tuple[Contract, list[Problem]]:
    """What `expect:` says and what is wrong with that. Raises SpecError where it is none."""
    root = document.root if isinstance(document.root, dict) else {}
    try:
        held = _Holder.model_validate({"expect": root["expect"]} if "expect" in root else {})
    except ValidationError as error:
        raise SpecError(errors.problems(error, document, _Holder)) from error

    def where(loc: Loc) -> str:
        return document.where(("expect", *loc))

    contract, complaints = compile_expect(held.expect, _tools(root), where)
    return contract, [document.problem(("expect",), complaint) for complaint in complaints]


def _tools(root: Mapping[str, Node]) -> Iterator[str]:
    """The tools that a spec names, whatever else is wrong with it."""
    for tool in _mappings(root.get("tools")):
        yield str(tool.get("name"))
    for server in _mappings(root.get("mcp")):
        for mocked in _mappings(server.get("tools")):
            yield str(mocked.get("name"))
            yield f"{server.get('name')}.{mocked.get('name')}"


def _mappings(found: Node | None) -> list[dict[str, Node]]:
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _idle(spec: LoadedSpec, contract: Contract) -> Iterator[Complaint]:
    """What `enforce:` names that would refuse nothing. An adapter is held to every ban, whatever it depends on."""
    enforced = spec.spec.enforce
    adapter = spec.spec.agent.driver == "adapter"
    if enforced and not adapter and not spec.spec.mcp:
        yield Complaint("refuses nothing: a call can be refused on its way to a server under mcp: or from an adapter")
        return
    banned = bool(contract.bans) if adapter else any(forbidden(spec.steps, contract))
    if "forbidden" in enforced and not banned:
        yield Complaint("`forbidden` refuses nothing: no line under expect: calls: says what is called `never`")
    if "confirmation" in enforced and not contract.approvals:
        yield Complaint("`confirmation` refuses nothing: no line under expect: confirm: says what needs one")


def _surroundings(spec: LoadedSpec) -> Surroundings:
    """An adapter without servers is answered by the spec alone; what other agents' own tools answer is not known."""
    adapter = spec.spec.agent.driver == "adapter"
    return Surroundings(
        answered=[tool.name for tool in spec.spec.tools] if adapter and not spec.spec.mcp else None,
        prompts=len(spec.user_turns) or 1,
        servers=[server.name for server in spec.spec.mcp],
        adapter=adapter,
    )


def _lanes(spec: LoadedSpec, problems: list[Problem]) -> Iterator[Lane]:
    """What each server's `limits:` and `snapshot:` demand."""
    for number, server in enumerate(spec.spec.mcp):
        lane = _lane(spec, number, server, problems)
        if lane != Lane(id=lane.id, where=lane.where, server=lane.server):
            yield lane


def _lane(spec: LoadedSpec, number: int, server: Server, problems: list[Problem]) -> Lane:
    lane = limited(number, server, spec.document.where(("mcp", number)))
    snapshot = _snapshot(spec, number, server, problems) or {}
    return replace(
        lane,
        tools=snapshot.get("tools"),
        capabilities=snapshot.get("capabilities"),
        discovered=snapshot.get("discovered"),
    )


def _snapshot(spec: LoadedSpec, number: int, server: Server, problems: list[Problem]) -> dict[str, JsonValue] | None:
    if not server.snapshot:
        return None
    try:
        found = read_value(spec.path.parent / server.snapshot)
    except (OSError, ValueError, SpecError) as error:
        complaint = Complaint(f"cannot be read: {error}")
        problems.append(spec.document.problem(("mcp", number, "snapshot"), complaint))
        return None
    if isinstance(found, list):
        return {"tools": found}
    if isinstance(found, dict):
        return found
    complaint = Complaint("is no snapshot: a list of tools, or an object with tools and capabilities")
    problems.append(spec.document.problem(("mcp", number, "snapshot"), complaint))
    return None
