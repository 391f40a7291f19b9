"""A contract file of version 0.2: the same envelope, with `expect:` as in specs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal, Self

from pydantic import model_validator

from flowproof_runner.contract.grammar import Envelope, OneServer, Redaction
from flowproof_runner.expectations.contract.language.grammar import Expect, compile_expect
from flowproof_runner.expectations.contract.model import Contract
from flowproof_runner.reading.fields import Words
from flowproof_runner.reading.problems import Complaint, Loc, refuse


class Written02(Envelope):
    """A contract file whose `expect:` is the one of specs."""

    schemaVersion: Literal["0.2"]
    expect: Expect
    reads: tuple[Words, ...] = ()
    redact: Redaction | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.expect.model_copy(update={"strict": False}) == Expect():
            raise refuse(Complaint("expects nothing, so no run could fail", ("expect",)))
        return self

    @property
    def harmless(self) -> frozenset[str]:
        """See Envelope."""
        return frozenset(self.reads)

    @property
    def version(self) -> str:
        """See Envelope."""
        return self.schemaVersion

    @property
    def hidden(self) -> Redaction | None:
        """See Envelope."""
        return self.redact or super().hidden

    def compiled(self, where: Callable[[Loc], str]) -> tuple[Contract, tuple[Complaint, ...]]:
        """See Envelope."""
        contract, complaints = compile_expect(self.expect, self.fixtures.keys(), lambda loc: where(("expect", *loc)))
        return contract, tuple(replace(each, at=("expect", *each.at)) for each in complaints)


class Envelope02(Written02, OneServer):
    """The same with at most one server."""
