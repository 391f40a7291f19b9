"""`faults:` — failures put in the way of the agent, at a model turn or an MCP call."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, PlainValidator, WithJsonSchema, model_validator

from flowproof_runner.reading.fields import Counted, Duration, Flag, Part, Text, Whole, Words, kind
from flowproof_runner.reading.problems import Complaint, refuse
from flowproof_runner.reading.scalars import Node, value

_MODEL = ("answer", "timeout", "connection", "cut", "malformed", "slow")
_MCP = ("error", "rpc_error", "timeout", "dies", "slow")
_ONLY_MODEL, _ONLY_MCP = ("retry_after",), ("call", "nth", "code")
_LEAST, _MOST = 400, 599


def _status(node: Node) -> int:
    status = value(node)
    if not isinstance(status, int) or isinstance(status, bool) or not _LEAST <= status <= _MOST:
        raise refuse(Complaint(f"{kind(node)} is no status of an error; accepted: 400 to 599, as 429, 500, 529"))
    return status


def _seconds(node: Node) -> float:
    given = value(node)
    if not isinstance(given, int | float) or isinstance(given, bool) or given < 0:
        raise refuse(Complaint(f"{kind(node)} is no number of seconds; accepted: 1, 0.5, as in the Retry-After header"))
    return float(given)


def _frames(node: Node) -> int | Literal["half"]:
    given = value(node)
    if given == "half":
        return "half"
    if not isinstance(given, int) or isinstance(given, bool) or given < 0:
        raise refuse(Complaint(f"{kind(node)} is no place to cut; accepted: a number of frames, or half"))
    return given


class FaultEntry(Part):
    """One fault: at a turn of the model (`turn`), or at a call of an MCP server's tool (`mcp` and `call`)."""

    turn: Counted | None = Field(default=None, description="The model turn, from 1, as flowproof show counts them.")
    mcp: Words | None = Field(default=None, description="A server under mcp.")
    call: Words | None = Field(default=None, description="With mcp: the tool.")
    nth: Counted = Field(default=1, description="With mcp: which call of the tool, from 1.")
    times: Counted = Field(default=1, description="How often in a row; what comes after is answered.")
    answer: Annotated[int, PlainValidator(_status), WithJsonSchema({"type": "integer"})] | None = Field(
        default=None, description="Model: an error of the API with this status."
    )
    retry_after: Annotated[float, PlainValidator(_seconds), WithJsonSchema({"type": "number"})] | None = Field(
        default=None, description="With answer: seconds in its Retry-After header."
    )
    timeout: Duration | None = Field(
        default=None, description="No answer until the client gives up, for so long at most."
    )
    connection: Literal["closed", "reset"] | None = Field(
        default=None, description="Model: the connection ends without an answer."
    )
    cut: (
        Annotated[
            int | Literal["half"],
            PlainValidator(_frames),
            WithJsonSchema({"anyOf": [{"type": "integer"}, {"const": "half"}]}),
        ]
        | None
    ) = Field(default=None, description="Model: the stream breaks off after so many frames.")
    malformed: Flag = Field(default=False, description="Model: the arguments of its tool calls are cut-off JSON.")
    slow: Duration | None = Field(default=None, description="Model: before every frame. MCP: before the answer.")
    error: Text | None = Field(default=None, description="MCP: the tool fails, with this text.")
    rpc_error: Text | None = Field(default=None, description="MCP: a JSON-RPC error, with this message.")
    code: Whole = Field(default=-32603, description="With rpc_error: its code.")
    dies: Flag = Field(default=False, description="MCP: the server is gone.")

    @model_validator(mode="after")
    def _one_fault(self) -> Self:
        given = self.model_fields_set
        if ("turn" in given) == ("mcp" in given):
            raise refuse(Complaint("exactly one of turn and mcp is needed: where does it happen?"))
        where, ways, foreign = ("turn", _MODEL, _ONLY_MCP) if "turn" in given else ("mcp", _MCP, _ONLY_MODEL)
        wrong = [Complaint(f"does not go with {where}", (name,)) for name in foreign if name in given]
        wrong += [
            Complaint(f"does not go with {where}; accepted: {', '.join(ways)}", (name,))
            for name in sorted({*_MODEL, *_MCP} - {*ways})
            if name in given
        ]
        found = [way for way in ways if (said := getattr(self, way)) is not None and said is not False]
        if not wrong and len(found) != 1:
            named = " and ".join(found) if found else "none"
            wrong.append(Complaint(f"exactly one of {', '.join(ways)} is needed, found {named}"))
        if where == "mcp" and self.call is None:
            wrong.append(Complaint("call is needed with mcp: which tool?"))
        if "retry_after" in given and self.answer is None:
            wrong.append(Complaint("goes with answer", ("retry_after",)))
        if "code" in given and self.rpc_error is None:
            wrong.append(Complaint("goes with rpc_error", ("code",)))
        if wrong:
            raise refuse(*wrong)
        return self

    @property
    def label(self) -> str:
        """What reports call it."""
        where = f"turn {self.turn}" if self.mcp is None else f"mcp.{self.mcp}.{self.call} call {self.nth}"
        return f"{where}: {self._what()}"

    def _what(self) -> str:
        match self:
            case FaultEntry(answer=int(status)):
                return f"answer {status}"
            case FaultEntry(timeout=float(longest)):
                return f"no answer for {longest:g} s"
            case FaultEntry(connection=str(how)):
                return f"connection {how}"
            case FaultEntry(cut="half"):
                return "cut in half"
            case FaultEntry(cut=int(frames)):
                return f"cut after {frames} frame{'' if frames == 1 else 's'}"
            case FaultEntry(malformed=True):
                return "malformed tool arguments"
            case FaultEntry(slow=float(gap)):
                return f"slow, {gap:g} s" + (" a frame" if self.mcp is None else "")
            case FaultEntry(error=str(text)):
                return f"tool error {text!r}"
            case FaultEntry(rpc_error=str(text)):
                return f"JSON-RPC error {text!r}"
            case _:
                return "the server dies"
