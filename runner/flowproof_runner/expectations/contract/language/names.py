"""What a bare word in a contract may refer to."""

from __future__ import annotations

from dataclasses import dataclass, replace

from flowproof_runner.expectations.contract.language.scanner import Scanner


@dataclass(frozen=True, slots=True)
class Names:
    """What a bare word may refer to."""

    tools: frozenset[str] = frozenset()
    variables: frozenset[str] = frozenset()

    def bind(self, variable: str) -> Names:
        """These names and one more variable."""
        return replace(self, variables=self.variables | {variable})

    def tool_in(self, word: str, scan: Scanner) -> str | None:
        """The tool a dotted word begins with.

        Raises SyntaxProblem if there are two candidates, for the reader would have to guess.
        """
        heads = [word[:end] for end in (*(i for i, c in enumerate(word) if c == "."), len(word))]
        found = [head for head in heads if head in self.tools]
        if len(found) > 1:
            raise scan.problem(
                f"both {found[0]!r} and {found[-1]!r} are tools; write result({found[-1]}) or result({found[0]})"
            )
        return found[0] if found else None
