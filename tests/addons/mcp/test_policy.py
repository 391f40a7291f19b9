"""Which declared result answers which call, and what is refused."""

from __future__ import annotations

import pytest
from tests.addons.mcp.stage import request, tool_call

from flowproof_addons.mcp import message as rpc
from flowproof_addons.mcp.approvals import Approvals
from flowproof_addons.mcp.policy import Policy
from flowproof_addons.session import McpServer, McpTool, MockResult
from flowproof_addons.trace.model import JsonValue


def policy(*tools: McpTool, forbidden: tuple[str, ...] = ()) -> Policy:
    server = McpServer(name="bank", command=("bank",), tools=tools, forbidden=forbidden)
    return Policy(server, Approvals.asked_by(()))


def structured(policy_: Policy, *arguments: dict[str, JsonValue]) -> list[JsonValue]:
    """The structured content each call gets; None where the spec has no result for it."""
    found: list[JsonValue] = []
    for given in arguments:
        local = policy_.answer(tool_call(1, "pay", **given))
        assert local is not None
        result = local.outcome["result"]
        assert isinstance(result, dict)
        found.append(None if local.problem else result.get("structuredContent"))
    return found


def test_one_result_serves_every_call() -> None:
    tool = McpTool(name="pay", results=(MockResult(content={"n": 1}),))
    assert structured(policy(tool), {}, {}, {}) == [{"n": 1}] * 3


def test_a_list_of_results_is_used_up_and_one_call_more_is_a_problem() -> None:
    tool = McpTool(name="pay", repeat=False, results=(MockResult(content={"n": 1}), MockResult(content={"n": 2})))
    assert structured(policy(tool), {}, {}, {}) == [{"n": 1}, {"n": 2}, None]


def test_the_first_case_that_fits_by_arguments_or_number_answers() -> None:
    tool = McpTool(
        name="pay",
        results=(
            MockResult(content={"to": "ada"}, where={"to": "ada"}),
            MockResult(content={"second": True}, call=2),
            MockResult(content={"rest": True}),
        ),
    )
    given: list[dict[str, JsonValue]] = [{"to": "bob"}, {"to": "bob"}, {"to": "ada", "sum": 3}]
    assert structured(policy(tool), *given) == [{"rest": True}, {"second": True}, {"to": "ada"}]


def test_a_call_no_case_fits_is_a_problem() -> None:
    tool = McpTool(name="pay", results=(MockResult(content={}, where={"sum": 1}),))
    assert structured(policy(tool), {"sum": 2}) == [None]


@pytest.mark.parametrize(
    ("content", "result"),
    [
        ("done", {"content": [{"type": "text", "text": "done"}]}),
        ({"a": 1}, {"content": [{"type": "text", "text": '{"a": 1}'}], "structuredContent": {"a": 1}}),
        ([1, 2], {"content": [{"type": "text", "text": "[1, 2]"}]}),
        ({"content": [], "isError": True}, {"content": [], "isError": True}),
    ],
)
def test_a_declared_value_becomes_a_tool_result(content: JsonValue, result: JsonValue) -> None:
    local = policy(McpTool(name="pay", results=(MockResult(content=content),))).answer(tool_call(1, "pay"))
    assert local is not None
    assert local.outcome == {"result": result}


def test_in_the_era_of_2026_a_result_says_that_it_is_complete() -> None:
    tool = McpTool(name="pay", results=(MockResult(content="x"),))
    local = policy(tool).answer(tool_call(1, "pay", {rpc.META_VERSION: "2026-07-28"}))
    assert local is not None
    assert local.outcome["result"] == {"resultType": "complete", "content": [{"type": "text", "text": "x"}]}


def test_a_forbidden_tool_is_answered_with_a_tool_error_even_if_it_has_a_result() -> None:
    tool = McpTool(name="pay", results=(MockResult(content="x"),))
    local = policy(tool, forbidden=("pay",)).answer(tool_call(1, "pay"))
    assert local is not None
    assert (local.by, local.reason) == ("enforce", "the spec forbids this tool")
    assert "'isError': True" in str(local.outcome)


@pytest.mark.parametrize("message", [request(1, "tools/list"), request(1, "prompts/get", {"name": "pay"})])
def test_only_tool_calls_are_answered(message: rpc.Message) -> None:
    assert policy(McpTool(name="pay", results=(MockResult(content="x"),)), forbidden=("pay",)).answer(message) is None


def listing(*names: str, **more: JsonValue) -> rpc.Message:
    return {"result": {"tools": [{"name": name} for name in names], **more}}


def test_a_tool_with_a_schema_is_listed_if_the_server_lacks_it() -> None:
    schema: JsonValue = {"type": "object"}
    tool = McpTool(name="pay", tool_schema=schema)
    added: rpc.Message = {"result": {"tools": [{"name": "see"}, {"name": "pay", "inputSchema": schema}]}}
    assert policy(tool).amend(listing("see")) == added
    assert policy(tool).amend(listing("pay")) == listing("pay")
    assert policy(tool).amend(listing("see", nextCursor="2")) == listing("see", nextCursor="2")
    assert policy(McpTool(name="pay")).amend(listing("see")) == listing("see")


def test_a_listed_output_schema_gives_a_declared_value_its_structured_form() -> None:
    tool = McpTool(name="pay", results=(MockResult(content="snow"),))
    made = policy(tool)
    assert structured(made, {}) == [None]
    made.amend(listing("see"))
    made.amend({"result": {"tools": [{"name": "pay", "outputSchema": {"properties": {"result": {}}}}]}})
    assert structured(made, {}) == [{"result": "snow"}]
