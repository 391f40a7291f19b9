"""The lines on approvals: `escalate needs ask_user approved with same arguments`, `pay needs prompt 2`."""

from __future__ import annotations

from dataclasses import dataclass

from flowproof_runner.expectations.contract.language.line_reader import LineReader
from flowproof_runner.expectations.contract.language.names import Names
from flowproof_runner.expectations.contract.language.scanner import Scanner
from flowproof_runner.expectations.contract.language.syntax import Parser
from flowproof_runner.expectations.contract.model import Confirmation


def confirmation(text: str, names: Names) -> tuple[Confirmation, ...]:
    """Read one line about approvals. Raises SyntaxProblem if it is none."""
    return _Line(Parser(Scanner(text), names)).confirmation()


@dataclass(slots=True)
class _Line(LineReader):
    """One line being read."""

    def confirmation(self) -> tuple[Confirmation, ...]:
        tools = self.tools()
        if not self.scan.take("needs"):
            raise self.scan.problem("expected 'TOOL needs ASKER approved [with same arguments]'")
        if self._numbered_prompt():
            return self._prompted(tools)
        by = "any" if self.scan.take("confirmation") else self.tool()
        self.scan.take("approved")
        bound = self.scan.take("with", "same", "arguments")
        approves = self.clause("answering", "result")
        self.parser.end()
        return tuple(Confirmation(tool=tool, by=by, bound=bound, approves=approves) for tool in tools)

    def _numbered_prompt(self) -> bool:
        """A tool may be called prompt, too."""
        before = self.scan.here
        if self.scan.take("prompt") and self.scan.word().isdecimal():
            return True
        self.scan.here = before
        return False

    def _prompted(self, tools: tuple[str, ...]) -> tuple[Confirmation, ...]:
        """`2 or 3 until prompt 4 where amount < 100`."""
        prompts = [self._nth()]
        while self.scan.take("or"):
            self.scan.take("prompt")
            prompts.append(self._nth())
        until = self._nth() if self.scan.take("until", "prompt") else None
        such = self.clause("where", "call")
        if self.scan.take("with", "same", "arguments"):
            raise self.scan.problem("a prompt is no arguments; say which calls it approves: where amount equals 40")
        self.parser.end()
        return tuple(
            Confirmation(tool=tool, by="prompt", prompts=tuple(prompts), until=until, such=such) for tool in tools
        )

    def _nth(self) -> int:
        number = self.whole()
        if not number:
            raise self.scan.problem("prompts are counted from 1")
        return number
