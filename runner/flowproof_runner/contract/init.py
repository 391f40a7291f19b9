"""A first contract that runs as it is, with an adapter to start from."""

from __future__ import annotations

from pathlib import Path

from flowproof_addons import FlowproofError
from flowproof_runner.program import writing

_CONTRACT = """\
schemaVersion: "0.2"
id: first-contract
input:
  message: Refund order A-1.
fixtures:
  get_order: { id: A-1, amount: 40, state: paid }
  refund: { ok: true }
adapter:
  command: [python3, {adapter}]
expect:
  calls:
    - get_order at least once
    - refund at most once
  order:
    - get_order before refund
  args:
    - refund where amount equals get_order[id = $id].amount
  confirm:
    - refund needs confirmation with same arguments
  outcome:
    status: completed
    where: out.refunded equals count(refund.args.id)
"""

_ADAPTER = '''\
"""A minimal adapter: one JSON object a line on stdout, answers on stdin, logs on stderr."""

import itertools
import json
import sys

numbers = itertools.count(1)


def send(**message):
    print(json.dumps(message), flush=True)


def call(tool, arguments):
    send(type="tool_call", callId=str(next(numbers)), tool=tool, arguments=arguments)
    return json.loads(sys.stdin.readline())["result"]


json.loads(sys.stdin.readline())  # run_start
order = call("get_order", {"id": "A-1"})
refund = {"id": order["id"], "amount": order["amount"]}
send(type="confirmation", tool="refund", confirmed=True, arguments=refund)
call("refund", refund)
send(type="final", status="completed", output={"refunded": 1})
'''


class ExistsError(FlowproofError):
    """A starter file is already there."""


def init(path: Path) -> tuple[Path, ...]:
    """Write a starter contract and adapter; gives what was written. Raises ExistsError instead of overwriting."""
    adapter = path.with_name(f"{path.stem.split('.')[0]}_adapter.py")
    for file in (path, adapter):
        if file.exists():
            raise ExistsError(f"{file} is already there; it was left as it is")
    writing.write(path, _CONTRACT.replace("{adapter}", str(adapter)))
    writing.write(adapter, _ADAPTER)
    return path, adapter
