"""Evidence and contracts in a few words, for the tests of the evaluator."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.evidence.model import (
    AnyEvent,
    Asked,
    Concluded,
    Confirmed,
    Decided,
    Denied,
    Discovered,
    Dispatched,
    Evidence,
    Replied,
    Returned,
    Told,
)
from flowproof_runner.expectations.contract.language.grammar import Expect, compile_expect
from flowproof_runner.expectations.contract.model import Contract


class Run:
    """Writes down a run of an adapter, or of a model-driven agent with `turn`."""

    def __init__(self) -> None:
        self.events: list[AnyEvent] = []
        self.known: list[str] = []
        self.group = 0
        self.duration_ms: float | None = None

    def call(self, tool: str, arguments: JsonValue = None, result: JsonValue = None, *, is_error: bool = False) -> Run:
        """An adapter's call and its answer."""
        id = f"c{len(self.events)}"
        arguments = {} if arguments is None else arguments
        self._add(Decided, call=id, tool=tool, arguments=arguments, arguments_text="", thread="", group=self.seq)
        self._add(Dispatched, call=id, tool=tool, arguments=arguments)
        self._add(Returned, call=id, tool=tool, result=result, is_error=is_error)
        return self

    def deny(self, tool: str, arguments: JsonValue = None) -> Run:
        """An adapter's call that was refused."""
        id = f"c{len(self.events)}"
        self._add(Decided, call=id, tool=tool, arguments=arguments, arguments_text="", thread="", group=self.seq)
        self._add(Denied, call=id, tool=tool, arguments=arguments, reason="tool_forbidden")
        return self

    def confirm(self, tool: str, arguments: JsonValue = None, *, granted: bool = True) -> Run:
        """An answer to a confirmation."""
        self._add(Confirmed, call=None, tool=tool, arguments=arguments, granted=granted)
        return self

    def ask(self, tokens: int | None = None, stop: str = "stop") -> Run:
        """A model turn: a request and its reply."""
        self._add(Asked, lane="model", dialect="d", model="m", thread="t")
        self._add(Replied, lane="model", thread="t", status=200, text="", model="m", input_tokens=tokens, stop=stop)
        return self

    def serve(self, server: str, tool: str, ms: float, size: int = 1, is_error: bool = False) -> Run:
        """An MCP server's answer to a call, with how long it took and how large it was."""
        id = f"s{len(self.events)}"
        self._add(Dispatched, lane=server, call=id, tool=tool, arguments={})
        self._add(
            Returned, lane=server, call=id, tool=tool, result=None, is_error=is_error, duration_ms=ms, size_bytes=size
        )
        return self

    def offer(self, server: str, tools: list[JsonValue], capabilities: JsonValue = None) -> Run:
        """What an MCP server says it offers."""
        self._add(Discovered, lane=server, tools=tuple(tools), capabilities=capabilities)
        return self

    def took(self, ms: float) -> Run:
        """How long the run took, as its driver measured."""
        self.duration_ms = ms
        return self

    def final(self, output: JsonValue = None, status: str | None = "completed") -> Run:
        """The declared outcome."""
        self._add(Concluded, status=status, output=output)
        return self

    def turn(self, *calls: tuple[str, JsonValue, JsonValue]) -> Run:
        """One model turn whose reply asks for these calls at once; their answers are told in the next turn."""
        self.group += 1
        known, ids = tuple(self.known), []
        for tool, arguments, _ in calls:
            ids.append(id := f"m{len(self.events)}")
            self._add(
                Decided,
                lane="model",
                call=id,
                tool=tool,
                arguments=arguments,
                arguments_text="",
                thread="t",
                group=self.group,
                known=known,
            )
        for id, (tool, _, result) in zip(ids, calls, strict=True):
            self._add(Told, lane="model", call=id, tool=tool, result=result)
            self.known.append(id)
        return self

    @property
    def seq(self) -> int:
        return len(self.events)

    def evidence(self, *, complete: bool = True) -> Evidence:
        """The run so far."""
        return Evidence(tuple(self.events), frozenset({"adapter"}), {}, self.duration_ms, complete=complete)

    def _add(self, kind: type[AnyEvent], lane: str = "adapter", **members: object) -> None:
        self.events.append(kind(seq=self.seq, lane=lane, **members))  # type: ignore[arg-type]  # each kind's own


@pytest.fixture
def run() -> Run:
    """An empty run."""
    return Run()


@pytest.fixture
def contract() -> Callable[..., Contract]:
    """A contract from sections: `contract(calls=["a never"])`."""

    def build(tools: Iterable[str] = (), **sections: object) -> Contract:
        found, complaints = compile_expect(Expect.model_validate(sections), tools)
        assert complaints == ()
        return found

    return build


@pytest.fixture
def play() -> Callable[[list[tuple[object, ...]]], Evidence]:
    """A finished run from steps: `("call", tool, arguments, result)`, `("confirm", ...)`, `("final", ...)`."""

    def played(steps: list[tuple[object, ...]]) -> Evidence:
        run = Run()
        for name, *members in steps:
            if name == "confirm":
                tool, arguments, granted = members
                run.confirm(str(tool), arguments, granted=bool(granted))  # type: ignore[arg-type]  # JSON
            elif name == "fail":
                tool, result = members
                run.call(str(tool), {}, result, is_error=True)  # type: ignore[arg-type]  # JSON
            else:
                getattr(run, str(name))(*members)
        return run.evidence()

    return played
