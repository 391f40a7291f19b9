"""The contract between a flow and the thing that makes its agent run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Literal, Protocol

from flowproof_addons import FlowproofError
from flowproof_runner.drivers.dialogue import Dialogue
from flowproof_runner.evidence.model import AnyEvent

type Ending = Literal["exited", "timed out", "printed too much", "stopped after divergence", "interrupted"]


class DriverError(FlowproofError):
    """The agent could not be started or reached."""


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the flow's boundary listens, as the agent is told."""

    url: str
    """The model boundary without `/v1`: `http://127.0.0.1:41233`."""
    mcp_urls: Mapping[str, str] = field(default_factory=dict)
    """Per MCP server: the URL of its stand-in."""
    mcp_servers: Mapping[str, str] = field(default_factory=dict)
    """Per MCP server: the command of its stdio stand-in, as shell words."""


@dataclass(frozen=True, slots=True)
class Task:
    """One run of one agent."""

    prompt: str
    """All prompts of the flow, joined with newlines; delivered once."""
    folder: Path
    """The flow's run folder, absolute: stdout, stderr and whatever the agent is given."""
    addresses: Addresses
    timeout_s: float
    diverged: Event
    """Set by the boundary at the first divergence: the agent is stopped soon after."""
    cancelled: Event
    """Set when the whole invocation ends early."""
    places: Mapping[str, str] = field(default_factory=dict)
    """Handles for folders of the run: `flowproof.workspace`."""
    dialogue: Dialogue | None = None
    """In a conversation: the user, who has said `prompt` and may have more to say."""
    arrived: Callable[[], int] = field(default=lambda: 0)
    """How many model requests have arrived by now: where what a driver observes itself stands among them."""


@dataclass(frozen=True, slots=True)
class DriverResult:
    """How the agent ended. Whether that is right is the flow's business."""

    ending: Ending
    duration_s: float
    exit_code: int | None = None
    """None when it did not exit by itself or was never a process of ours."""
    signal: int | None = None
    """The signal that ended it, where one did."""
    stdout: Path | None = None
    stderr: Path | None = None
    survivors: int = 0
    """Processes it had left running, ended by us."""
    notes: tuple[str, ...] = ()
    events: tuple[AnyEvent, ...] = ()
    """What the driver itself observed, beside the boundary: an adapter's conversation."""
    output: str | None = None
    """The structured output where it is none of the model's: what a service answered last, or what a file holds."""
    problem: str | None = None
    """Why the run broke, where the driver knows more than an exit code tells."""


class Driver(Protocol):
    """Starts one agent and waits for its end."""

    def run(self, task: Task) -> DriverResult:
        """Deliver the task and return when the agent has ended, with nothing of it left running.

        Raises DriverError if the agent cannot be started or reached.
        """
        ...
