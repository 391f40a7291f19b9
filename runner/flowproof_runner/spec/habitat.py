"""`agent.home`, `agent.workspace` and `agent.clock`: where and when the agent believes to be."""

from __future__ import annotations

import datetime as dt
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, GetJsonSchemaHandler
from pydantic_core import CoreSchema

from flowproof_runner.reading.fields import Flag, Part, Text, Words
from flowproof_runner.reading.problems import Complaint, refuse
from flowproof_runner.reading.scalars import Node, Scalar


def _inside(text: str) -> str:
    """Refuse a path that would lead out of the folder it is meant for."""
    path = PurePosixPath(text)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise refuse(Complaint(f"{text!r} does not lie in the home directory; accepted: .config/tool/settings.json"))
    return text


def _moment(text: str) -> str:
    """Refuse what is no time with a zone: what a day it is must not depend on the machine."""
    try:
        moment = dt.datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise refuse(Complaint(f"{text!r} is no time with a zone; accepted: 2026-01-01T00:00:00Z"))
    return text


class Home(Part):
    """The agent's HOME."""

    mode: Literal["isolated", "user"] = Field(
        default="isolated", description="isolated: empty and the run's own, with fixed locale and zone. user: yours."
    )
    source: Words | None = Field(
        default=None, alias="from", description="A folder, relative to the spec, copied into the isolated home."
    )
    files: dict[Annotated[Words, AfterValidator(_inside)], Text] = Field(
        default_factory=dict, description="Files written there, by path; ${flowproof.*} handles are filled in."
    )


class Workspace(Part):
    """The folder the agent works in."""

    source: Words | None = Field(
        default=None, alias="from", description="A folder, relative to the spec, copied anew for each run."
    )
    git: Flag = Field(default=False, description="Make it a git repository with one commit, always the same one.")


class Clock(Part):
    """The time the agent sees."""

    at: Annotated[Words, AfterValidator(_moment)] = Field(description="With a zone: 2026-01-01T00:00:00Z.")
    moves: Flag = Field(default=False, description="It runs on from there; else it stands still.")
    libfaketime: Flag = Field(default=False, description="Preload libfaketime too, for agents not in Python or Node.")


class _OrText:
    """Tells the JSON Schema that the mapping has a short form."""

    def __init__(self, **schema: object) -> None:
        self._schema = {"type": "string", **schema}

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"anyOf": [self._schema, handler(core)]}


def _short(key: str) -> BeforeValidator:
    """A text stands for the mapping with that one key."""

    def lengthened(node: Node) -> object:
        return {key: node} if isinstance(node, str) or (isinstance(node, Scalar) and node.value is not None) else node

    return BeforeValidator(lengthened)


HomeField = Annotated[Home, _short("mode"), _OrText(enum=["isolated", "user"])]
WorkspaceField = Annotated[Workspace, _short("from"), _OrText()]
ClockField = Annotated[Clock, _short("at"), _OrText(examples=["2026-01-01T00:00:00Z"])]
