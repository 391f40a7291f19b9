"""A contract file read: its expectations on the AST, its fixtures resolved, or every problem at once."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from pydantic import ValidationError

from flowproof_addons.trace import plain
from flowproof_addons.trace.model import JsonValue
from flowproof_runner.contract.fixture_file import FixtureReader
from flowproof_runner.contract.grammar import Envelope, Redaction
from flowproof_runner.contract.servers import AnsweringServer
from flowproof_runner.drivers.fixtures import Case
from flowproof_runner.expectations.contract.lint import Surroundings, enforceable, lint, place
from flowproof_runner.expectations.contract.model import Budget, Contract, Enforcement, Lane, Outcome
from flowproof_runner.program.unplugged import unplugged
from flowproof_runner.reading import errors
from flowproof_runner.reading.document import Document, Place
from flowproof_runner.reading.problems import Complaint, Loc, Problem, SpecError
from flowproof_runner.reading.reader import read
from flowproof_runner.reading.scalars import Scalar


@dataclass(frozen=True, slots=True)
class ContractFile:
    """Everything a contract file says."""

    path: Path
    id: str
    message: str
    contract: Contract
    data: JsonValue = None
    has_data: bool = False
    fixtures: Mapping[str, tuple[Case, ...]] = field(default_factory=dict)
    command: tuple[str, ...] = ()
    enforced: frozenset[Enforcement] = frozenset()
    servers: tuple[AnsweringServer, ...] = ()
    redaction: Redaction | None = None
    max_duration_ms: int | None = None
    outcome_schema: JsonValue = None
    reads: frozenset[str] = frozenset()
    """Tools that change nothing."""
    version: str = "0.1"

    @property
    def timeout_s(self) -> float:
        """After this long the run is ended: twice the allowed duration, never less than five seconds."""
        return max(2 * (self.max_duration_ms or 15_000), 5_000) / 1000


def load(path: Path, *, answered: bool = False) -> ContractFile:
    """Read a contract file, YAML or JSON. `answered`: something else than its fixtures will answer the calls.

    Raises SpecError with every problem found.
    """
    try:
        text = plain.read(path).decode("utf-8")
    except OSError as error:
        raise SpecError([Problem(str(path), 0, 0, "", f"cannot be read: {error.strerror}")]) from error
    except UnicodeDecodeError as error:
        raise SpecError([Problem(str(path), 0, 0, "", "is not UTF-8 text")]) from error
    document = _json(text, path) if path.suffix == ".json" else read(text, str(path))
    envelope = _validated(document)
    return _Loader(document, path, envelope, answered or bool(envelope.servers)).load()


def _json(text: str, path: Path) -> Document:
    """JSON is read as JSON, for YAML refuses some of it (tabs); only the file can be named then."""
    try:
        root = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SpecError([Problem(str(path), 0, 0, "", f"is not JSON: {error}")]) from error
    return Document(str(path), root, values={(): Place(1, 1)})


def _validated(document: Document) -> Envelope:
    version = document.root.get("schemaVersion") if isinstance(document.root, dict) else None
    if not isinstance(version, str) or version not in ("0.1", "0.2"):
        found = version.text if isinstance(version, Scalar) else version
        hint = (
            f'found {found}, a number: put it in quotes, "{found}"'
            if isinstance(version, Scalar)
            else f"found {found!r}"
        )
        raise SpecError([document.problem(("schemaVersion",), Complaint(f'accepted: "0.1", "0.2"; {hint}'))])
    with unplugged():
        model = _model(version, listed=isinstance(document.root, dict) and isinstance(document.root.get("mcp"), list))
    try:
        return model.model_validate(document.root)
    except ValidationError as error:
        raise SpecError(errors.problems(error, document, model)) from error


def _model(version: str, *, listed: bool) -> type[Envelope]:
    """Imported as needed, for building one grammar's models takes longer than reading a file."""
    if version == "0.1":
        from flowproof_runner.contract.envelope01 import Envelope01

        return Envelope01
    if listed:
        from flowproof_runner.contract.envelope_servers import EnvelopeServers

        return EnvelopeServers
    from flowproof_runner.contract.envelope02 import Envelope02

    return Envelope02


@dataclass
class _Loader:
    document: Document
    path: Path
    envelope: Envelope
    answered: bool
    complaints: list[tuple[Loc, Complaint]] = field(default_factory=list)

    def load(self) -> ContractFile:
        envelope = self.envelope
        contract = self._contract()
        fixtures = {tool: self._fixture(tool, node) for tool, node in envelope.fixtures.items()}
        contract = self._with_limits(contract)
        for finding in lint(contract, Surroundings(answered=None if self.answered else fixtures.keys())):
            self.complaints.append((("expect", *place(finding.path)), Complaint(finding.message)))
        self.complaints += [(loc, complaint) for loc, complaint in self._enforcement(contract)]
        if self.complaints:
            raise SpecError(self.document.problem(loc, complaint) for loc, complaint in self.complaints)
        return self._file(contract, fixtures)

    def _file(self, contract: Contract, fixtures: Mapping[str, tuple[Case, ...]]) -> ContractFile:
        envelope = self.envelope
        return ContractFile(
            path=self.path,
            id=envelope.id,
            message=envelope.input.message,
            contract=contract,
            data=envelope.input.data,
            has_data="data" in envelope.input.model_fields_set,
            fixtures=fixtures,
            command=envelope.adapter.command if envelope.adapter is not None else (),
            enforced=frozenset({"forbidden", "confirmation"}) if envelope.enforcement.preDispatch else frozenset(),
            servers=envelope.servers,
            redaction=envelope.hidden,
            max_duration_ms=envelope.performance.maxDurationMs,
            outcome_schema=_outcome_schema(contract),
            reads=envelope.harmless,
            version=envelope.version,
        )

    def _contract(self) -> Contract:
        contract, complaints = self.envelope.compiled(self.document.where)
        self.complaints += [((), complaint) for complaint in complaints]
        return contract

    def _with_limits(self, contract: Contract) -> Contract:
        extra: list[Budget | Lane] = [self._lane(server) for server in self.envelope.servers]
        limit = self.envelope.performance.maxDurationMs
        if limit is not None:
            where = self.document.where(("performance",))
            extra.append(Budget(id="performance.maxDurationMs", where=where, duration_ms=limit))
        return replace(contract, expectations=(*contract.expectations, *extra))

    def _lane(self, server: AnsweringServer) -> Lane:
        """What the server is held to, its snapshot read: a list of tools, or an object with capabilities too."""
        lane = replace(server.lane, where=self.document.where(server.loc))
        if server.snapshot is None:
            return lane
        found = self._resolved(server.snapshot, (*server.loc, "snapshot" if server.variables else "toolSnapshot"))
        if not isinstance(found, dict):
            return replace(lane, tools=found)
        capabilities = lane.capabilities if lane.capabilities is not None else found.get("capabilities")
        return replace(lane, tools=found.get("tools"), capabilities=capabilities)

    def _fixture(self, tool: str, node: JsonValue) -> tuple[Case, ...]:
        reader = FixtureReader(self.path.parent)
        found = reader.cases(node)
        self.complaints += [(("fixtures", tool), complaint) for complaint in reader.complaints]
        return found

    def _resolved(self, node: JsonValue, loc: Loc) -> JsonValue:
        reader = FixtureReader(self.path.parent)
        found = reader.resolved(node, loc)
        self.complaints += [((), complaint) for complaint in reader.complaints]
        return found

    def _enforcement(self, contract: Contract) -> Iterator[tuple[Loc, Complaint]]:
        if not self.envelope.enforcement.preDispatch:
            return
        problem = enforceable(contract)
        if problem is not None:
            yield ("enforcement",), Complaint(problem)


def _outcome_schema(contract: Contract) -> JsonValue:
    return next((e.schema for e in contract.expectations if isinstance(e, Outcome) and e.schema is not None), None)
