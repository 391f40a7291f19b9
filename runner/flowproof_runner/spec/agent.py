"""`agent:` — the program under test and how it is driven."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, PlainValidator, WithJsonSchema, model_validator

from flowproof_runner.reading.fields import Command, Duration, Flag, Part, Port, Text, Variable, Words, kind
from flowproof_runner.reading.problems import Complaint, refuse
from flowproof_runner.reading.scalars import Node, value
from flowproof_runner.spec import variables
from flowproof_runner.spec.habitat import ClockField, HomeField, WorkspaceField

type OutputKind = Literal["reply", "reply json", "tool", "file", "body", "adapter"]

type Stdin = Literal["later", "all", "text"]
"""`later`: the first user turn as ever, the others as JSON lines. `all`: all as JSON lines. `text`: as plain lines."""

_DRIVERS = ("command", "url", "adapter")
_ONLY_WITH = {
    "cwd": ("command", "adapter"),
    "env": ("command", "adapter"),
    "expect_exit": ("command", "adapter"),
    "home": ("command", "adapter"),
    "workspace": ("command", "adapter"),
    "clock": ("command", "adapter"),
    "allow_egress": ("command",),
    "proxy_port": ("url",),
    "headers": ("url",),
    "stdin": ("command",),
    "quiet": ("command",),
}
_OUTPUT = re.compile(r"(reply json|reply|body|adapter)|(tool|file) (.+)")
_OUTPUT_ONLY_WITH = {"body": "url", "adapter": "adapter"}
_OUTPUT_FORMS = "reply, reply json, tool NAME, file PATH, body, adapter"
_EXIT_FORMS = "0, [0, 3], or { any: why any exit code will do }"


@dataclass(frozen=True, slots=True)
class ExitCodes:
    """Which exit codes of the agent are right."""

    accepted: frozenset[int] | None = frozenset({0})
    """None: any."""
    reason: str = ""
    """Why any will do."""

    def accepts(self, code: int) -> bool:
        """True when the agent may end with this code."""
        return self.accepted is None or code in self.accepted


@dataclass(frozen=True, slots=True)
class Output:
    """Where the run's structured output is read."""

    kind: OutputKind
    name: str = ""
    """The tool or the file."""


def _destination(text: str) -> str:
    """Refuse what is no destination; one with a variable in it can only be judged when it runs."""
    from flowproof_runner.containment.policy import parse  # most specs declare none

    if not variables.names(text):
        try:
            parse(text)
        except ValueError as error:
            raise refuse(Complaint(f"{text!r}: {error}")) from error
    return text


type Destination = Annotated[Words, AfterValidator(_destination)]


def _exit_codes(node: Node) -> ExitCodes:
    given = value(node)
    if isinstance(given, dict) and given.keys() == {"any"} and isinstance(given["any"], str) and given["any"].strip():
        return ExitCodes(None, given["any"])
    codes = given if isinstance(given, list) else [given]
    if not codes or not all(type(code) is int and 0 <= code <= 255 for code in codes):
        raise refuse(Complaint(f"{kind(node)} is no exit code; accepted: {_EXIT_FORMS}"))
    return ExitCodes(frozenset(code for code in codes if isinstance(code, int)))


def _output(node: Node) -> Output:
    found = _OUTPUT.fullmatch(node) if isinstance(node, str) else None
    if found is None:
        raise refuse(Complaint(f"{kind(node)} is no place for output; accepted: {_OUTPUT_FORMS}"))
    match found[1] or found[2]:
        case "tool":
            return Output("tool", found[3])
        case "file":
            return Output("file", found[3])
        case "reply json":
            return Output("reply json")
        case "body":
            return Output("body")
        case "adapter":
            return Output("adapter")
        case _:
            return Output("reply")


class Agent(Part):
    """The program under test: exactly one of command, url and adapter."""

    command: Command | None = Field(default=None, description="A program to start: words, no shell; or a list.")
    url: Words | None = Field(default=None, description='A running service: POST {"prompt": ...} goes there.')
    adapter: Command | None = Field(default=None, description="A program that speaks JSON Lines on stdin and stdout.")
    cwd: Words | None = Field(default=None, description="Relative to the spec; default: where flowproof was started.")
    env: dict[Variable, Text] = Field(default_factory=dict, description="Applied last, over everything injected.")
    timeout: Duration = Field(default=300.0, description="After this long the agent is stopped and the flow fails.")
    expect_exit: Annotated[
        ExitCodes,
        PlainValidator(_exit_codes),
        WithJsonSchema(
            {
                "anyOf": [
                    {"type": "integer"},
                    {"type": "array", "items": {"type": "integer"}, "minItems": 1},
                    {"type": "object", "properties": {"any": {"type": "string"}}, "required": ["any"]},
                ]
            }
        ),
    ] = Field(default=ExitCodes(), description="Which exit codes are right; default 0.")
    allow_egress: tuple[Destination, ...] | None = Field(default=None, description="host:port, cidr:port, or a host.")
    output: (
        Annotated[Output, PlainValidator(_output), WithJsonSchema({"type": "string", "description": _OUTPUT_FORMS})]
        | None
    ) = Field(default=None, description="Where structured output is read.")
    proxy_port: Port | None = Field(default=None, description="With url: the local port its model base URL points at.")
    headers: dict[str, Text] = Field(default_factory=dict, description="With url: sent, never stored.")
    home: HomeField | None = Field(default=None, description="isolated, or what an isolated home holds; default: user.")
    workspace: WorkspaceField | None = Field(
        default=None, description="A folder, relative to the spec: its copy is the agent's working directory."
    )
    clock: ClockField | None = Field(default=None, description="The time that Python and Node agents see.")

    responses_websocket: Flag = Field(
        default=False, description="Let the agent have OpenAI's Responses WebSocket; default: it is told to use HTTP."
    )
    stdin: Stdin = Field(default="later", description="In a conversation: how user turns come on the agent's stdin.")
    quiet: Duration | None = Field(
        default=None, description="In a conversation, at record: how long nothing may come before the next user turn."
    )

    @property
    def driver(self) -> Literal["command", "url", "adapter"]:
        """Which of the three drives the agent."""
        if self.command is not None:
            return "command"
        return "url" if self.url is not None else "adapter"

    @model_validator(mode="after")
    def _one_driver(self) -> Self:
        given = [name for name in _DRIVERS if getattr(self, name) is not None]
        if len(given) != 1:
            found = " and ".join(given) if given else "none"
            raise refuse(Complaint(f"exactly one of command, url and adapter is needed, found {found}"))
        wrong = [
            Complaint(f"does not go with {given[0]}; accepted with {' and '.join(_ONLY_WITH[name])}", (name,))
            for name in sorted(self.model_fields_set & _ONLY_WITH.keys())
            if given[0] not in _ONLY_WITH[name]
        ]
        if self.workspace is not None and self.cwd is not None:
            wrong.append(Complaint("does not go with workspace, which is the agent's directory; keep one", ("cwd",)))
        place = self.output.kind if self.output is not None else ""
        if place in _OUTPUT_ONLY_WITH and given[0] != _OUTPUT_ONLY_WITH[place]:
            said = f"{place!r} does not go with {given[0]}; accepted with {_OUTPUT_ONLY_WITH[place]}"
            wrong.append(Complaint(said, ("output",)))
        if given == ["url"] and self.proxy_port is None:
            wrong.append(Complaint("proxy_port is required with url: the port that service's model base URL points at"))
        if wrong:
            raise refuse(*wrong)
        return self
