"""What is compared at replay and what is not, for one spec, and how its steps were understood."""

from __future__ import annotations

from collections.abc import Iterator

from flowproof_runner.expectations.contract.language.explain import line
from flowproof_runner.expectations.contract.model import Contract
from flowproof_runner.flow import plan
from flowproof_runner.habitat import of_spec
from flowproof_runner.spec.clients.profile import pins_of
from flowproof_runner.spec.clients.words import of_client
from flowproof_runner.spec.explain import explain as explain_spec
from flowproof_runner.spec.file import LoadedSpec
from flowproof_runner.spec.pins import PinEntry

_COMPARED = (
    "the API, method, path and query of every request",
    "the whole JSON body as values: key order and whitespace do not count; number literals, list order, absent or null,"
    " and the text of tool-call arguments do",
    "other bodies byte for byte; of multipart bodies the parts, without the boundary string",
)
_NOT_COMPARED = (
    "headers (stored for diagnosis)",
    "stream and stream_options: how a reply is carried, not what is asked",
    "the order in which results of parallel tool calls are told",
)


def explain(spec: LoadedSpec, contract: Contract) -> Iterator[str]:
    """The matching policy as it stands for this spec and what will be judged, in lines."""
    yield "  compared:"
    yield from (f"    {each}" for each in _COMPARED)
    yield "  not compared:"
    yield from (f"    {each}" for each in _NOT_COMPARED)
    yield from (f"    pin: {_pin(pin)}" for pin in pins_of(spec.spec))
    if of_spec.wanted(spec).isolated or spec.spec.agent.workspace is not None:
        yield f"    pin: {plan.OWN_FOLDER.name}, {plan.OWN_FOLDER.why}"
    yield from of_client(spec)
    mocked = [tool.name for tool in spec.spec.tools if tool.mocked]
    if mocked:
        yield f"  told by the spec instead of the agent's own tools: {', '.join(mocked)}"
    yield from (f"  {each}" for each in explain_spec(spec).splitlines())
    if contract.expectations:
        yield "  contract:"
        yield from (f"    {line(expectation)}" for expectation in contract.expectations)
    codes = spec.spec.agent.expect_exit
    accepted = "any" if codes.accepted is None else " or ".join(map(str, sorted(codes.accepted)))
    yield f"  exit code of the agent: {accepted}" + (f" ({codes.reason})" if codes.reason else "")
    if ports := plan.ports(spec):
        yield f"  fixed ports: {', '.join(map(str, sorted(ports)))}"


def _pin(pin: PinEntry) -> str:
    return f"{pin.label}, {pin.why}" if pin.why else f"{pin.label} (no reason given)"
