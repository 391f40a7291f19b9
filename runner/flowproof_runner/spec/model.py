"""The whole grammar of a `*.flow.yaml`."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, Field

from flowproof_runner.expectations.contract.model import Enforcement
from flowproof_runner.reading.fields import Flag, Object, Part, Text, Variable, Words
from flowproof_runner.reading.problems import Complaint, refuse
from flowproof_runner.spec.agent import Agent
from flowproof_runner.spec.clients.names import names
from flowproof_runner.spec.conversation import UserTurn
from flowproof_runner.spec.faults import FaultEntry
from flowproof_runner.spec.mcp import Server
from flowproof_runner.spec.pins import PinEntry
from flowproof_runner.spec.steps import StepForm
from flowproof_runner.spec.tools import Tool

type Enforced = Literal["observe"] | Enforcement | tuple[Enforcement, ...]


def _enforced(node: object) -> object:
    """`observe` enforces nothing, and one rule may be written without a list."""
    if isinstance(node, str) and node not in ("observe", *get_args(Enforcement.__value__)):
        raise refuse(
            Complaint(f"found {node!r}; accepted: observe, forbidden, confirmation, or a list of the last two")
        )
    return () if node == "observe" else [node] if isinstance(node, str) else node


def _client(text: str) -> str:
    if text and text not in names():
        raise refuse(Complaint(f"no client is called {text!r}; accepted: {', '.join(names())}"))
    return text


class Control(Part):
    """The control of a catalogue that a flow is evidence for."""

    id: Words = Field(description="Its id in the catalogue: sec.plan-mode.")
    title: Words = Field(description="What it promises, as a sentence.")


class Redaction(Part):
    """What never reaches the disk."""

    keys: tuple[Words, ...] = Field(default=(), description="Body and header keys whose values are not written.")
    values: tuple[Words, ...] = Field(default=(), description="Values that are not written, as ${NAME}.")


class Spec(Part):
    """One flow."""

    name: Words = Field(description="What the flow shows, as a sentence.")
    app: Literal["agent"] = Field(description="The kind of flow; there is one.")
    agent: Agent = Field(description="The program under test.")
    tools: tuple[Tool, ...] = Field(default=(), description="Results substituted at the model boundary.")
    mcp: tuple[Server, ...] = Field(default=(), description="MCP servers behind the tool boundary.")
    steps: tuple[StepForm, ...] = Field(
        default=(), description="Prompts and assertions.", json_schema_extra={"minItems": 1}
    )
    strict: Flag = Field(default=False, description="Every tool call must be claimed by an assert_tool_call.")
    pins: tuple[PinEntry, ...] = Field(default=(), description="Spans of requests that may differ between runs.")
    keep_attempts: Flag = Field(
        default=False, description="Failures that the client tried again are recorded as turns, and met at replay too."
    )
    faults: tuple[FaultEntry, ...] = Field(default=(), description="Failures that the agent meets, in both phases.")
    expect: Object = Field(default_factory=dict, description="Contract checks.")
    enforce: Annotated[tuple[Enforcement, ...], BeforeValidator(_enforced, json_schema_input_type=Enforced)] = Field(
        default=(), description="Which contract rules refuse calls before they reach a server."
    )
    control: Control | None = Field(default=None, description="The control this flow is evidence for.")
    skip_unless_env: tuple[Variable, ...] = Field(default=(), description="Skip the flow unless all of these are set.")
    redact: Redaction = Field(default_factory=Redaction, description="Keys and values that are never written.")
    client: Annotated[Text, AfterValidator(_client)] = Field(
        default="", description="The agent's client, for its built-in profile: pins and launch settings."
    )
    conversation: tuple[UserTurn, ...] = Field(
        default=(),
        description="In place of prompts: what the user says, turn by turn.",
        json_schema_extra={"minItems": 1},
    )
