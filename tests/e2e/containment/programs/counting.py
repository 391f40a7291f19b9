"""The real supervisor, which also keeps count of the calls it was asked about in the file `traps`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from flowproof_runner.containment import supervisor
from flowproof_runner.containment.blocked import Blocked
from flowproof_runner.containment.context import Context
from flowproof_runner.containment.notify import Handler, Reply
from flowproof_runner.containment.target import Call


def handlers(context: Context, blocked: Blocked) -> Mapping[int, Handler]:
    count = Path(context.folder).with_name("traps")

    def counted(handler: Handler) -> Handler:
        def handle(call: Call) -> Reply:
            with count.open("a") as file:
                file.write(f"{call.number}\n")
            return handler(call)

        return handle

    return {number: counted(handler) for number, handler in supervisor.handlers(context, blocked).items()}


def main() -> None:
    supervisor.main(handlers)
