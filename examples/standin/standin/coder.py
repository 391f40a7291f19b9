"""A model for any coding agent: it looks into two files with whatever shell tool is offered, then tells what it found.

The first answer asks for both files at once; the second repeats every sentence of the results that begins with
"Remember:". Where no shell is offered, the sentences are looked for in the whole request.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from flowproof_addons.dialects import raw
from flowproof_addons.dialects.base import ModelRequest
from flowproof_addons.trace.model import JsonValue
from standin.script import Call, Rule

type Object = Mapping[str, JsonValue]

COMMANDS = ("cat notes.txt", "cat fares.txt")
"""What it asks for in one turn."""

_SHELLS = ("bash", "shell", "exec_command", "run_shell_command", "run_command", "terminal", "execute", "run_terminal")
"""How the names of tools that take a command begin, the likeliest first."""
_COMMANDS = ("command", "cmd", "commands", "script", "code")
"""How their parameter is called."""
_CODE_MODE = "tools.exec_command"
"""Named by tools that run JavaScript, from which a shell is called."""
_REMEMBER = re.compile(r"Remember: [^.\\\"]*\.")
_SUBMIT = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
"""mini-swe-agent is told that all is done by a command that prints this first."""


@dataclass(frozen=True, slots=True)
class Shell:
    """A tool that runs a command."""

    name: str
    schema: Object
    """Of its arguments; empty where it takes code."""

    def call(self, command: str) -> Call:
        """The call that runs it."""
        if not self.schema:
            code = f"text(await tools.exec_command({raw.compact({'cmd': command})}));"
            return Call(tool=self.name, arguments=code, freeform=True)
        return Call(tool=self.name, arguments=_arguments(self.schema, command))


def choose(asked: ModelRequest, body: Object) -> Rule:
    """The answer to a request: calls if no tool has answered yet, else what was found."""
    shell = next(_shells(body), None)
    if shell is None:
        return Rule(say=_found([dict(body)]) or "Notes and fares")
    if not asked.results:
        return Rule(say="I look.", call=[shell.call(command) for command in COMMANDS])
    found = _found(result.content for result in asked.results)
    if _SUBMIT in raw.compact(dict(body)):
        return Rule(call=[shell.call(f"echo {_SUBMIT}; echo '{found}'")])
    return Rule(say=found or "There is nothing to remember.")


def _found(told: Iterable[JsonValue]) -> str:
    """Sorted, because agents may tell parallel results in any order."""
    return " ".join(sorted({sentence for value in told for sentence in _REMEMBER.findall(raw.compact(value))}))


def _shells(body: Object) -> Iterator[Shell]:
    tools = list(_offered(body))
    for start in _SHELLS:
        for tool in tools:
            name, schema = raw.as_text(tool.get("name")), _schema(tool)
            if name.casefold().startswith(start) and _takes(schema) is not None:
                yield Shell(name, schema)
    for tool in tools:
        if tool.get("type") == "custom" and _CODE_MODE in raw.as_text(tool.get("description")):
            yield Shell(raw.as_text(tool.get("name")), {})


def _offered(body: Object) -> Iterator[Object]:
    """The tools of any API, those in groups too, and those that the newest Codex offers within its input."""
    groups = [body, *(item for item in raw.objects(body.get("input")) if item.get("type") == "additional_tools")]
    for tool in (tool for group in groups for tool in raw.objects(group.get("tools"))):
        inner = raw.objects(tool.get("functionDeclarations")) or raw.objects(tool.get("tools"))
        yield from inner or [raw.as_object(tool.get("function")) or tool]


def _schema(tool: Object) -> Object:
    given = (tool.get(key) for key in ("parameters", "input_schema", "parametersJsonSchema", "parameters_json_schema"))
    return next(filter(None, map(raw.as_object, given)), {})


def _takes(schema: Object) -> str | None:
    properties = raw.as_object(schema.get("properties"))
    return next((name for name in _COMMANDS if name in properties), None)


def _arguments(schema: Object, command: str) -> dict[str, JsonValue]:
    """The command in the parameter that takes it, and something that fits in all others that are required."""
    properties, takes = raw.as_object(schema.get("properties")), _takes(schema)
    required = (raw.as_text(name) for name in raw.as_list(schema.get("required")))
    return {
        name: _command(name, properties, command) if name == takes else _filling(raw.as_object(properties.get(name)))
        for name in dict.fromkeys([*required, takes])
        if name is not None
    }


def _command(name: str, properties: Object, command: str) -> JsonValue:
    """Some tools take a text, some a list of commands, some the words of one."""
    if raw.as_text(raw.at(properties.get(name), "type")).lower() != "array":
        return command
    return [command] if name.endswith("s") else ["bash", "-c", command]


def _filling(schema: Object) -> JsonValue:
    choices = raw.as_list(schema.get("enum"))
    return choices[0] if choices else _FILLINGS.get(raw.as_text(schema.get("type")).lower(), "look into the notes")


_FILLINGS: Mapping[str, JsonValue] = {"boolean": False, "integer": 1000, "number": 1000, "array": [], "object": {}}
