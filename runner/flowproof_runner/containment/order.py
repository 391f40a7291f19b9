"""What the tool tells its supervisor: one line of JSON, through a pipe, because the agent's environment is in it."""

from __future__ import annotations

import base64
import json
from typing import Final, NamedTuple

from flowproof_runner.containment.daemons import Daemon
from flowproof_runner.containment.policy import Entry, Policy

PROBE: Final = ("192.0.2.1", 9)
"""Where a launch tests itself: TEST-NET-1. Connecting a UDP socket sends nothing; refused with EACCES, it proves the
filter, the reading and the answering."""


class Program(NamedTuple):
    """What to run, and under what."""

    argv: tuple[str, ...]
    env: dict[str, str]
    cwd: str
    stdio: tuple[int, int, int]
    filters: tuple[bytes, bytes]
    """The compiled filter for a tree under Landlock, and the one for a tree without."""


class Order(NamedTuple):
    """What to run, under which policy."""

    program: Program
    policy: Policy
    folder: str
    """The run folder."""

    def dump(self) -> bytes:
        """The line, with its end."""
        filters = [base64.b64encode(one).decode() for one in self.program.filters]
        policy = self.policy._asdict()
        policy |= {name: [one._asdict() for one in policy[name]] for name in ("entries", "daemons")}
        program = {**self.program._asdict(), "filters": filters}
        return json.dumps({"program": program, "policy": policy, "folder": self.folder}).encode() + b"\n"

    @classmethod
    def load(cls, line: bytes) -> Order:
        """Read the line."""
        body = json.loads(line)
        program, policy = body["program"], body["policy"]
        under, alone = map(base64.b64decode, program["filters"])
        zero, one, two = program["stdio"]
        return cls(
            Program(tuple(program["argv"]), program["env"], program["cwd"], (zero, one, two), (under, alone)),
            Policy(
                entries=tuple(Entry(**{**entry, "networks": tuple(entry["networks"])}) for entry in policy["entries"]),
                certify=policy["certify"],
                nameservers=tuple(policy["nameservers"]),
                search=tuple(policy["search"]),
                daemons=tuple(Daemon(**one) for one in policy["daemons"]),
                writes=policy["writes"],
                off_host=tuple(policy["off_host"]),
            ),
            body["folder"],
        )
