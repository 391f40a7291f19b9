"""A contract file of version 0.1: read as it is, imported onto the one AST."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from flowproof_runner.contract.expect01 import Expect01
from flowproof_runner.contract.grammar import OneServer
from flowproof_runner.contract.import01 import import_expect
from flowproof_runner.expectations.contract.model import Contract
from flowproof_runner.reading.problems import Complaint, Loc


class Envelope01(OneServer):
    """A contract file of version 0.1."""

    schemaVersion: Literal["0.1"]
    expect: Expect01

    @property
    def version(self) -> str:
        """See Envelope."""
        return self.schemaVersion

    def compiled(self, where: Callable[[Loc], str]) -> tuple[Contract, tuple[Complaint, ...]]:
        """See Envelope."""
        return import_expect(self.expect, where)
