"""A contract file of version 0.2 whose `mcp:` is a list, as in specs: several servers, over stdio or HTTP."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Self

from pydantic import Field, model_validator

from flowproof_runner.contract.envelope02 import Written02
from flowproof_runner.contract.servers import CALL_S, STARTUP_S, AnsweringServer, limited
from flowproof_runner.reading.problems import Complaint, refuse
from flowproof_runner.spec.mcp import Server


class EnvelopeServers(Written02):
    """A contract file with several servers; the tools under `fixtures:` are answered before they are asked."""

    mcp: Annotated[tuple[Server, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _each_is_another(self) -> Self:
        counted = Counter(server.name for server in self.mcp)
        wrong = [Complaint(f"there are {n} servers called {name}", ("mcp",)) for name, n in counted.items() if n > 1]
        for number, server in enumerate(self.mcp):
            if server.tools:
                wrong.append(Complaint("belong under fixtures: in a contract file", ("mcp", number, "tools")))
            if server.port:
                wrong.append(Complaint("means nothing here: flowproof is the client", ("mcp", number, "port")))
        if wrong:
            raise refuse(*wrong)
        return self

    @property
    def servers(self) -> tuple[AnsweringServer, ...]:
        """See Envelope."""
        return tuple(_answering(number, server) for number, server in enumerate(self.mcp))


def _answering(number: int, server: Server) -> AnsweringServer:
    limits = server.limits
    return AnsweringServer(
        name=server.name,
        loc=("mcp", number),
        lane=limited(number, server),
        command=server.command or (),
        url=server.url or "",
        env=server.env,
        headers=server.headers,
        cwd=server.cwd or "",
        startup_s=limits.startup or STARTUP_S,
        call_s=CALL_S if limits.call is None else max(2 * limits.call, 1.0),
        snapshot={"$file": server.snapshot} if server.snapshot else None,
        variables=True,
    )
