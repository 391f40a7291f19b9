"""`mcp:` — the servers behind the tool boundary."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import ConfigDict, Field, model_validator

from flowproof_runner.reading.fields import Command, Duration, Json, Part, Port, Size, Text, Variable, Words
from flowproof_runner.reading.problems import Complaint, refuse
from flowproof_runner.spec.tools import Tool

_ONLY_WITH = {"env": "command", "cwd": "command", "headers": "url", "port": "url"}


class Limits(Part):
    """What a server must keep to; each breach is a finding."""

    startup: Duration | None = Field(default=None, description="Until it has answered its first request.")
    call: Duration | None = Field(default=None, description="One tool call.")
    result: Size | None = Field(default=None, description="One result.")


class ServerTool(Tool):
    """A tool of a server; with a result the stand-in answers it and the server never sees the call."""

    model_config = ConfigDict(populate_by_name=False)

    tool_schema: Json = Field(default=None, alias="schema", description="Given: listed even if the server lacks it.")


class Server(Part):
    """One MCP server: exactly one of command (stdio) and url (streamable HTTP)."""

    name: Annotated[Text, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$")] = Field(
        description="What the flow calls the server."
    )
    command: Command | None = Field(default=None, description="The real server, started only at record.")
    url: Words | None = Field(default=None, description="The real server, contacted only at record.")
    env: dict[Variable, Text] = Field(default_factory=dict, description="With command.")
    cwd: Words | None = Field(default=None, description="With command; relative to the spec.")
    headers: dict[str, Text] = Field(default_factory=dict, description="With url: sent at record, never stored.")
    port: Port | None = Field(default=None, description="With url: a fixed port for the listener.")
    tools: tuple[ServerTool, ...] = Field(default=(), description="Tools answered by the stand-in in both phases.")
    snapshot: Words | None = Field(
        default=None, description="Its tools and capabilities as a file; drift is a finding."
    )
    limits: Limits = Field(default_factory=Limits, description="Times and sizes the server must keep to.")

    @model_validator(mode="after")
    def _one_transport(self) -> Self:
        if (self.command is None) == (self.url is None):
            found = "both" if self.url else "none"
            raise refuse(Complaint(f"exactly one of command and url is needed, found {found}"))
        given = "url" if self.command is None else "command"
        wrong = [
            Complaint(f"does not go with {given}; accepted with {_ONLY_WITH[name]}", (name,))
            for name in sorted(self.model_fields_set & _ONLY_WITH.keys())
            if _ONLY_WITH[name] != given
        ]
        if wrong:
            raise refuse(*wrong)
        return self
