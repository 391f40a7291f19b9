"""`term := "text" | 12 | [a, b] | $argument | out.path | tool[selector].path | sum(term) | ...`"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.expectations.contract.language.names import Names
from flowproof_runner.expectations.contract.language.path_reader import PathReader
from flowproof_runner.expectations.contract.language.scanner import Scanner
from flowproof_runner.expectations.contract.terms import (
    Aggregate,
    Arguments,
    Choice,
    Choose,
    Formula,
    Function,
    Literal,
    Ref,
    Results,
    Scope,
    Successor,
    Term,
    Union,
)
from flowproof_runner.matchers.matchers import literal

_FUNCTIONS: dict[str, Function] = {
    "count": "count",
    "length": "count",
    "sum": "sum",
    "min": "min",
    "max": "max",
    "avg": "avg",
    "distinct": "distinct",
}
_CHOICES: dict[str, Choice] = {"first": "first", "latest": "latest", "every": "every", "one": "one"}
_CALLABLE = frozenset({*_FUNCTIONS, *_CHOICES, "all", "any", "after", "json", "result", "args"})
_STOPS = frozenset({"and", "or", "when", "where", "required", "distinct"})


@dataclass(slots=True)
class TermReader:
    """Reads the terms on both sides of an operator."""

    scan: Scanner
    names: Names
    paths: PathReader

    def left(self, bare: Scope | None) -> Term:
        """The term that comes next, where a bare path belongs to the thing under test."""
        term = self._known(bare, tools=bare is None)
        if term is not None:
            return term
        if bare is None:
            known = ", ".join(sorted({"out", *self.names.variables, *self.names.tools}))
            raise self.scan.problem(f"expected a value; known names here are {known}")
        return Ref(bare, self.paths.path())

    def right(self, bare: Scope | None) -> Term:
        """The term that comes next, where an unknown bare word is text."""
        term = self._known(bare, tools=True)
        return term if term is not None else self._value()

    def _value(self) -> Literal:
        start = end = self.scan.skip()
        words: list[str] = []
        while (word := self.scan.word()) and not (words and self._stops(word)):
            words.append(self.scan.take_word())
            end = self.scan.here
            if self.scan.glued("("):
                raise self.scan.problem(f"{word!r} is no function; put text with brackets in double quotes", start)
        if not words:
            raise self.scan.problem("expected a value")
        text = self.scan.text[start:end]
        value = literal(text)
        if isinstance(value, str) and re.match(r"[A-Za-z_]\w*\.\w", text) and len(words) == 1:
            raise self.scan.problem(
                "no tool or variable of this name is known here; write result(TOOL).path for a tool's answer, and put"
                " it in double quotes if it is text",
                start,
            )
        return Literal(value, loose=not isinstance(value, str))

    def _stops(self, word: str) -> bool:
        """What ends text without quotes: the words that lines go on with."""
        return word in _STOPS or (word == "by" and self.scan.text[self.scan.here :].split()[:2] == ["by", "schema"])

    def _known(self, bare: Scope | None, *, tools: bool) -> Term | None:
        """A term that says itself what it is; None if a bare word comes next."""
        with self.scan.nested():
            return self._said(bare, tools=tools)

    def _said(self, bare: Scope | None, *, tools: bool) -> Term | None:
        if self.scan.text[self.scan.skip() : self.scan.here + 1] == '"':
            return self._quoted(bare)
        if self.scan.take_sign("$"):
            return Ref("call", self.paths.path() if self.paths.follows() else ())
        if self.scan.sign() == "[":
            return self._list(bare)
        word = self.scan.word()
        after = self.scan.text[self.scan.here + len(word) : self.scan.here + len(word) + 1]
        if after == "(" and word in _CALLABLE:
            self.scan.take_word()
            self.scan.expect("(", "after a function")
            return self._function(word, bare)
        return self._named(word, bare, tools=tools)

    def _quoted(self, bare: Scope | None) -> Term:
        """Text; or, glued to a path, the first segment of a bare path."""
        start = self.scan.here
        text = self.scan.quoted()
        if text is None:
            raise self.scan.problem("expected text")
        if bare is not None and self.scan.glued("."):
            self.scan.here = start
            return Ref(bare, self.paths.path())
        return Literal(text)

    def _list(self, bare: Scope | None) -> Term:
        self.scan.expect("[", "to open a list")
        terms = [self.right(bare)]
        while self.scan.take_sign(","):
            terms.append(self.right(bare))
        self.scan.expect("]", "to close the list")
        values: list[JsonValue] = [term.value for term in terms if isinstance(term, Literal)]
        return Literal(values, loose=True) if len(values) == len(terms) else Union(tuple(terms))

    def _function(self, word: str, bare: Scope | None) -> Term:
        if word == "json":
            value = Literal(self.scan.json())
            self.scan.expect(")", "after the JSON value")
            return value
        if word in ("result", "args"):
            tool = self._tool_name()
            self.scan.expect(")", "after the tool's name")
            return self._results(tool) if word == "result" else self._arguments(tool)
        inner = self._argument_of(bare)
        if word == "any":
            return self._any(inner, bare)
        if word == "after":
            return self._after(inner)
        self.scan.expect(")", "after the function's value")
        if word == "all":
            return self._merged(inner)
        return Aggregate(_FUNCTIONS[word], inner) if word in _FUNCTIONS else Choose(_CHOICES[word], inner)

    def _argument_of(self, bare: Scope | None) -> Term:
        """What a function is applied to: a known name, else a bare path where there is a thing under test."""
        term = self._known(bare, tools=True)
        if term is not None:
            return term
        return self._value() if bare is None or not self._is_path_word() else Ref(bare, self.paths.path())

    def _is_path_word(self) -> bool:
        return isinstance(literal(self.scan.word()), str)

    def _merged(self, inner: Term) -> Term:
        if not isinstance(inner, Results):
            raise self.scan.problem("all() collects what the calls of one tool answered: all(tool.path)")
        return replace(inner, merged=True)

    def _any(self, first: Term, bare: Scope | None) -> Term:
        terms = [first]
        while self.scan.take_sign(","):
            terms.append(self._argument_of(bare))
        self.scan.expect(")", "after the alternatives")
        return Union(tuple(terms))

    def _after(self, of: Term) -> Term:
        self.scan.expect(",", "and then the order: after(term, [a, b, c])")
        domain = self._list(None) if self.scan.sign() == "[" else self.right(None)
        if not isinstance(domain, Literal) or not isinstance(domain.value, list):
            raise self.scan.problem("the order is a list of values")
        offset: JsonValue = 1
        if self.scan.take_sign(","):
            offset = self.scan.json()
        if not isinstance(offset, int) or isinstance(offset, bool):
            raise self.scan.problem("how many places after is a whole number")
        self.scan.expect(")", "after the order")
        return Successor(of, tuple(domain.value), offset)

    def _named(self, word: str, bare: Scope | None, *, tools: bool) -> Term | None:
        head = word.split(".", 1)[0]
        inner: dict[str, Scope] = {"out": "out"}
        if bare == "item":
            inner["item"] = "item"
        if bare in ("args", "result"):
            inner |= {"args": "args", "result": "result"}
        if head in inner:
            return Ref(inner[head], self.paths.path(1))
        if head in self.names.variables:
            if bare == "call" and not tools and word == head and not self._path_continues(word):
                raise self.scan.problem(f"{head!r} is the variable of this 'for'; write ${head} for the argument")
            return Ref("each", self.paths.path(1), head)
        tool = self.names.tool_in(word, self.scan) if tools else None
        if tool is None:
            return None
        self.scan.here += len(tool)
        if self.scan.text[self.scan.here : self.scan.here + 5] == ".args":
            self.scan.here += 5
            return self._arguments(tool)
        return self._results(tool)

    def _path_continues(self, word: str) -> bool:
        return self.scan.text[self.scan.here + len(word) : self.scan.here + len(word) + 1] in ("[", '"')

    def _tool_name(self) -> str:
        name = self.scan.quoted()
        name = self.scan.take_word() if name is None else name
        if not name:
            raise self.scan.problem("expected a tool's name")
        return name

    def _results(self, tool: str) -> Results:
        index, where = self._selector()
        return Results(tool, self.paths.rest(), index, where)

    def _arguments(self, tool: str) -> Arguments:
        index, where = self._selector()
        if index is not None:
            raise self.scan.problem("a number selects an answer, not arguments; use a condition here")
        return Arguments(tool, self.paths.rest(), where)

    def _selector(self) -> tuple[int | None, Formula | None]:
        before = self.scan.here
        if not self.scan.glued("["):
            return None, None
        self.scan.here += 1
        if self.scan.take_sign("]"):  # a wildcard belongs to the path
            self.scan.here = before
            return None, None
        index = self.paths.index()
        if index is not None:
            return index, None
        where = self.paths.condition("args")
        self.scan.expect("]", "to close the selector")
        return None, where
