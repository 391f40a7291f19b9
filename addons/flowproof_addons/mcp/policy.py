"""Calls the spec answers instead of the server: declared results, and refusals of forbidden calls."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from flowproof_addons.declared import choose
from flowproof_addons.mcp import message as rpc
from flowproof_addons.mcp.approvals import Approvals
from flowproof_addons.mcp.lane import Author
from flowproof_addons.mcp.message import Message
from flowproof_addons.mcp.tool_result import tool_result
from flowproof_addons.session import McpServer, McpTool
from flowproof_addons.trace.model import JsonValue


@dataclass(frozen=True, slots=True)
class Local:
    """An answer that needs no server."""

    outcome: Message
    by: Author
    reason: str = ""
    """Why a call was refused."""
    silent_s: float | None = None
    """A fault: no answer, and after so long no server."""
    problem: str = ""
    """What the spec lacks: no declared result is left for this call."""


class Policy:
    """The spec's word on one server's tools; counts calls, because results may be declared per call."""

    def __init__(self, server: McpServer, approvals: Approvals) -> None:
        self._server = server
        self._tools = {tool.name: tool for tool in server.tools if tool.results}
        self._schemas = [tool for tool in server.tools if tool.tool_schema is not None]
        self._rules = {rule.tool: rule for rule in server.confirm}
        self._approvals = approvals
        self._outputs: dict[str, JsonValue] = {}
        """Output schemas of the tools listed so far."""
        self._calls: Counter[str] = Counter()

    def answer(self, message: Message) -> Local | None:
        """The spec's answer to a request, else None: it is the server's to answer."""
        params = rpc.params(message)
        name = rpc.tool(rpc.method(message), params)
        if not name:
            return None
        reason = self._refusal(name, params.get("arguments"))
        if reason:
            text = f"flowproof: {name} was refused before it reached {self._server.name}: {reason}"
            return Local({"result": tool_result(text, True, rpc.modern(message))}, "enforce", reason)
        tool = self._tools.get(name)
        return None if tool is None else self._declared(tool, message)

    def amend(self, outcome: Message) -> Message:
        """A `tools/list` answer with the tools whose schema the spec gives and the server lacks; last page only."""
        result = outcome.get("result")
        listed = result.get("tools") if isinstance(result, dict) else None
        if not isinstance(result, dict) or not isinstance(listed, list):
            return outcome
        tools = {str(tool.get("name")): tool for tool in listed if isinstance(tool, dict)}
        added = [] if result.get("nextCursor") else [_listed(t) for t in self._schemas if t.name not in tools]
        self._outputs |= {name: tool["outputSchema"] for name, tool in tools.items() if "outputSchema" in tool}
        return {**outcome, "result": {**result, "tools": [*listed, *added]}} if added else outcome

    def _refusal(self, name: str, arguments: JsonValue) -> str:
        if name in self._server.forbidden:
            return "the spec forbids this tool"
        rule = self._rules.get(name)
        if rule is not None and not self._approvals.use(rule, arguments):
            return "the spec wants a confirmation first, and there was none for this call"
        return ""

    def _declared(self, tool: McpTool, message: Message) -> Local:
        self._calls[tool.name] += 1
        number = self._calls[tool.name]
        arguments = rpc.params(message).get("arguments")
        found = choose(tool.results, tool.repeat, number, arguments if isinstance(arguments, dict) else {})
        modern = rpc.modern(message)
        if found is None:
            words = f"mcp.{self._server.name}.tools: no declared result for call {number} of {tool.name}"
            return Local({"result": tool_result(f"flowproof: {words}", True, modern)}, "spec", problem=words)
        result = tool_result(found.content, found.is_error, modern, self._outputs.get(tool.name))
        return Local({"result": result}, "spec")


def _listed(tool: McpTool) -> JsonValue:
    given = tool.tool_schema
    if isinstance(given, dict) and "inputSchema" in given:
        return {"name": tool.name, **given}
    return {"name": tool.name, "inputSchema": given}
