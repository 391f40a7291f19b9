"""Calls the spec answers instead of the server: declared results, and refusals of forbidden calls."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from flowproof_addons.declared import choose
from flowproof_addons.mcp import message as rpc
from flowproof_addons.mcp.lane import Author
from flowproof_addons.mcp.message import Message
from flowproof_addons.session import McpServer, McpTool
from flowproof_addons.trace.model import JsonValue

type Confirmed = Callable[[str, str, JsonValue], bool]
"""(server, tool, arguments): has a person agreed to exactly this call? Asking consumes the agreement."""


@dataclass(frozen=True, slots=True)
class Local:
    """An answer that needs no server."""

    outcome: Message
    by: Author
    reason: str = ""
    """Why a call was refused."""
    problem: str = ""
    """What the spec lacks: no declared result is left for this call."""


class Policy:
    """The spec's word on one server's tools; counts calls, because results may be declared per call."""

    def __init__(self, server: McpServer, confirmed: Confirmed) -> None:
        self._server = server
        self._tools = {tool.name: tool for tool in server.tools if tool.results}
        self._schemas = [tool for tool in server.tools if tool.tool_schema is not None]
        self._confirmed = confirmed
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
            return Local({"result": _result(text, True, rpc.modern(message))}, "enforce", reason)
        tool = self._tools.get(name)
        return None if tool is None else self._declared(tool, message)

    def amend(self, outcome: Message) -> Message:
        """A `tools/list` answer with the tools whose schema the spec gives and the server lacks; last page only."""
        result = outcome.get("result")
        if not self._schemas or not isinstance(result, dict) or result.get("nextCursor"):
            return outcome
        listed = result.get("tools")
        tools = list(listed) if isinstance(listed, list) else []
        names = [tool.get("name") for tool in tools if isinstance(tool, dict)]
        added = [_listed(tool) for tool in self._schemas if tool.name not in names]
        return {**outcome, "result": {**result, "tools": [*tools, *added]}} if added else outcome

    def _refusal(self, name: str, arguments: JsonValue) -> str:
        if name in self._server.forbidden:
            return "the spec forbids this tool"
        if name in self._server.confirm and not self._confirmed(self._server.name, name, arguments):
            return "the spec wants a confirmation first, and there was none for this call"
        return ""

    def _declared(self, tool: McpTool, message: Message) -> Local:
        self._calls[tool.name] += 1
        number = self._calls[tool.name]
        arguments = rpc.params(message).get("arguments")
        found = choose(tool.results, tool.repeat, number, arguments if isinstance(arguments, dict) else {})
        if found is None:
            words = f"mcp.{self._server.name}.tools: no declared result for call {number} of {tool.name}"
            return Local({"result": _result(f"flowproof: {words}", True, rpc.modern(message))}, "spec", problem=words)
        return Local({"result": _result(found.content, found.is_error, rpc.modern(message))}, "spec")


def _result(content: JsonValue, is_error: bool, modern: bool) -> Message:
    """A `CallToolResult`; content that already is one is taken as it is."""
    result: Message
    if isinstance(content, dict) and isinstance(content.get("content"), list):
        result = dict(content)
    else:
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        result = {"content": [{"type": "text", "text": text}]}
        if isinstance(content, dict):
            result["structuredContent"] = content
    if is_error:
        result["isError"] = True
    return {"resultType": "complete", **result} if modern else result


def _listed(tool: McpTool) -> JsonValue:
    given = tool.tool_schema
    if isinstance(given, dict) and "inputSchema" in given:
        return {"name": tool.name, **given}
    return {"name": tool.name, "inputSchema": given}
