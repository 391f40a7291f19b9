"""What the tool tells its supervisor: one line of JSON, through a pipe, because the agent's environment is in it."""

from __future__ import annotations

import base64
import json
from dataclasses import asdict, dataclass

from flowproof_runner.containment.launcher import Program
from flowproof_runner.containment.policy import Entry, Policy


@dataclass(frozen=True, slots=True)
class Order:
    """What to run, under which policy."""

    program: Program
    policy: Policy
    folder: str
    """The run folder."""
    search: tuple[str, ...] = ()
    """The search domains of this machine's resolver."""

    def dump(self) -> bytes:
        """The line, with its end."""
        filters = [base64.b64encode(one).decode() for one in self.program.filters]
        body = asdict(self)
        body["program"]["filters"] = filters
        return json.dumps(body).encode() + b"\n"

    @classmethod
    def load(cls, line: bytes) -> Order:
        """Read the line."""
        body = json.loads(line)
        program, policy = body["program"], body["policy"]
        entries = tuple(Entry(**{**one, "networks": tuple(one["networks"])}) for one in policy["entries"])
        one, two = map(base64.b64decode, program["filters"])
        zero, first, second = program["stdio"]
        return cls(
            Program(tuple(program["argv"]), program["env"], program["cwd"], (zero, first, second), (one, two)),
            Policy(entries, policy["certify"], tuple(policy["nameservers"]), tuple(policy["off_host"])),
            body["folder"],
            tuple(body["search"]),
        )
