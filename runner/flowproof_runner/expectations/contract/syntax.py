"""Text to terms and formulas: `amount equals list_pending.expenses[id = $expenseId].amount`.

    formula   := formula "or" formula | formula "and" formula | "not" formula | "(" formula ")" | comparison
    comparison:= term OPERATOR [term]
    term      := "text" | 12 | true | null | [a, b] | json(...) | $argument | out.path | variable.path
               | tool.path | tool[selector].path | tool.args.path | result(tool)... | args(tool)...
               | count|sum|min|max|avg|distinct|all|first|latest|every|one (term)
               | any(term, term) | after(term, [a, b], 1)
    path      := segment {"." segment | "[" NUMBER | FORMULA | nothing "]"}

On the left of an operator a bare path belongs to the thing being tested (the call, the element, the producing call);
on the right a bare word is text unless it begins with a name that is known.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.expectations.contract.scanner import Scanner
from flowproof_runner.expectations.contract.terms import (
    UNARY,
    Aggregate,
    Arguments,
    Choice,
    Choose,
    Compare,
    Filter,
    Formula,
    Function,
    Literal,
    Not,
    Operator,
    Ref,
    Results,
    Scope,
    Step,
    Successor,
    Term,
    Union,
    Wildcard,
    conjunction,
    disjunction,
)
from flowproof_runner.expectations.matchers import literal

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
_STOPS = frozenset({"and", "or", "when", "where", "required"})
_WORDED: tuple[tuple[tuple[str, ...], Operator, bool], ...] = (
    (("is", "not", "empty"), "is empty", True),
    (("is", "empty"), "is empty", False),
    (("is", "absent"), "is absent", False),
    (("is", "missing"), "is absent", False),
    (("is", "not"), "equals", True),
    (("is", "one", "of"), "in", False),
    (("is",), "equals", False),
    (("equals",), "equals", False),
    (("exists",), "exists", False),
    (("contains",), "contains", False),
    (("includes",), "includes", False),
    (("matches",), "matches", False),
    (("in",), "in", False),
    (("same", "set", "as"), "same set as", False),
    (("less", "than"), "<", False),
    (("more", "than"), ">", False),
    (("at", "least"), ">=", False),
    (("at", "most"), "<=", False),
)
_SIGNED: dict[str, tuple[Operator, bool]] = {
    "=": ("equals", False),
    "==": ("equals", False),
    "!=": ("equals", True),
    "<": ("<", False),
    "<=": ("<=", False),
    ">": (">", False),
    ">=": (">=", False),
}
_INDEX = re.compile(r"0|[1-9]\d{0,8}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Names:
    """What a bare word may refer to."""

    tools: frozenset[str] = frozenset()
    variables: frozenset[str] = frozenset()

    def bind(self, variable: str) -> Names:
        """These names and one more variable."""
        return replace(self, variables=self.variables | {variable})


def parse_formula(text: str, names: Names, bare: Scope | None = None) -> Formula:
    """Read a whole text as a condition. `bare`: what a bare path on the left belongs to; None: it must be named.

    Raises SyntaxProblem if it is not one.
    """
    parser = Parser(Scanner(text), names)
    formula = parser.formula(bare)
    parser.end()
    return formula


def parse_term(text: str, names: Names, bare: Scope | None = None) -> Term:
    """Read a whole text as a term. Raises SyntaxProblem if it is not one."""
    parser = Parser(Scanner(text), names)
    term = parser.left(bare)
    parser.end()
    return term


@dataclass(slots=True)
class Parser:
    """Reads one text; the prose lines of `expect:` share it."""

    scan: Scanner
    names: Names

    def end(self) -> None:
        """Raises SyntaxProblem unless everything was read."""
        if not self.scan.done():
            raise self.scan.problem("this was not expected; values with blanks or signs go in double quotes")

    def formula(self, bare: Scope | None) -> Formula:
        """The condition that comes next."""
        parts = [self._all(bare)]
        while self.scan.take("or"):
            parts.append(self._all(bare))
        return disjunction(parts)

    def _all(self, bare: Scope | None) -> Formula:
        parts = [self._part(bare)]
        while self.scan.take("and"):
            parts.append(self._part(bare))
        return conjunction(parts)

    def _part(self, bare: Scope | None) -> Formula:
        if self.scan.take("not"):
            return Not(self._part(bare))
        if self.scan.take_sign("("):
            inner = self.formula(bare)
            self.scan.expect(")", "to close the condition")
            return inner
        left = self.left(bare)
        operator, negated = self._operator()
        right = None if operator in UNARY else self.right(bare)
        return Compare(left, operator, right, negated)

    def _operator(self) -> tuple[Operator, bool]:
        negated = self.scan.take("not")
        sign = self.scan.sign()
        if sign in _SIGNED:
            self.scan.take_sign(sign)
            operator, also = _SIGNED[sign]
            return operator, negated != also
        for words, operator, also in _WORDED:
            if self.scan.take(*words):
                return operator, negated != also
        raise self.scan.problem("expected a comparison (equals, contains, matches, exists, is absent, in, <, ...)")

    def left(self, bare: Scope | None) -> Term:
        """The term that comes next, where a bare path belongs to the thing under test."""
        term = self._known(bare, tools=bare is None)
        if term is not None:
            return term
        if bare is None:
            known = ", ".join(sorted({"out", *self.names.variables, *self.names.tools}))
            raise self.scan.problem(f"expected a value; known names here are {known}")
        return Ref(bare, self._it(self._path()))

    def plain_path(self) -> tuple[str | int, ...] | None:
        """The path that comes next, None if it has wildcards or filters."""
        self.scan.skip()
        path = self._it(self._path())
        plain = tuple(step for step in path if isinstance(step, str | int))
        return plain if len(plain) == len(path) else None

    def right(self, bare: Scope | None) -> Term:
        """The term that comes next, where an unknown bare word is text."""
        term = self._known(bare, tools=True)
        return term if term is not None else self._value()

    def _value(self) -> Literal:
        start = end = self.scan.skip()
        words: list[str] = []
        while (word := self.scan.word()) and not (words and word in _STOPS):
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

    def _known(self, bare: Scope | None, *, tools: bool) -> Term | None:
        """A term that says itself what it is; None if a bare word comes next."""
        if self.scan.text[self.scan.skip() : self.scan.here + 1] == '"':
            return self._quoted(bare)
        if self.scan.take_sign("$"):
            return Ref("call", self._it(self._path()) if self._path_follows() else ())
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
            return Ref(bare, self._it(self._path()))
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
        return self._value() if bare is None or not self._is_path_word() else Ref(bare, self._it(self._path()))

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
            return Ref(inner[head], self._it(self._path()[1:]))
        if head in self.names.variables:
            if bare == "call" and not tools and word == head and not self._path_continues(word):
                raise self.scan.problem(f"{head!r} is the variable of this 'for'; write ${head} for the argument")
            return Ref("each", self._it(self._path()[1:]), head)
        tool = self._longest_tool(word) if tools else None
        if tool is None:
            return None
        self.scan.here += len(tool)
        if self.scan.text[self.scan.here : self.scan.here + 5] == ".args":
            self.scan.here += 5
            return self._arguments(tool)
        return self._results(tool)

    def _path_continues(self, word: str) -> bool:
        return self.scan.text[self.scan.here + len(word) : self.scan.here + len(word) + 1] in ("[", '"')

    def _longest_tool(self, word: str) -> str | None:
        """The tool a dotted word begins with; two candidates are an error, for the reader would have to guess."""
        heads = [word[:end] for end in (*(i for i, c in enumerate(word) if c == "."), len(word))]
        found = [head for head in heads if head in self.names.tools]
        if len(found) > 1:
            raise self.scan.problem(
                f"both {found[0]!r} and {found[-1]!r} are tools; write result({found[-1]}) or result({found[0]})"
            )
        return found[0] if found else None

    def _tool_name(self) -> str:
        name = self.scan.quoted()
        name = self.scan.take_word() if name is None else name
        if not name:
            raise self.scan.problem("expected a tool's name")
        return name

    def _results(self, tool: str) -> Results:
        index, where = self._selector()
        return Results(tool, self._it(self._rest()), index, where)

    def _arguments(self, tool: str) -> Arguments:
        index, where = self._selector()
        if index is not None:
            raise self.scan.problem("a number selects an answer, not arguments; use a condition here")
        return Arguments(tool, self._it(self._rest()), where)

    def _selector(self) -> tuple[int | None, Formula | None]:
        before = self.scan.here
        if not self.scan.glued("["):
            return None, None
        self.scan.here += 1
        if self.scan.take_sign("]"):  # a wildcard belongs to the path
            self.scan.here = before
            return None, None
        word = self.scan.word()
        if _INDEX.fullmatch(word) and self.scan.text[self.scan.skip() + len(word) :].lstrip().startswith("]"):
            self.scan.take_word()
            self.scan.expect("]", "after the number")
            return int(word), None
        where = self.formula("args")
        self.scan.expect("]", "to close the selector")
        return None, where

    def _path_follows(self) -> bool:
        return self.scan.here < len(self.scan.text) and self.scan.text[self.scan.here] not in " \t\n)],=<>!("

    def _path(self) -> tuple[Step | None, ...]:
        """A path from its first segment on."""
        return (*self._segment(), *self._rest())

    def _rest(self) -> tuple[Step | None, ...]:
        """What may follow a segment: `.next`, `[0]`, `[]`, `[condition]`."""
        steps: list[Step | None] = []
        while True:
            if self.scan.glued("["):
                steps.append(self._bracket())
            elif self.scan.glued("."):
                self.scan.here += 1
                steps += self._segment()
            else:
                return tuple(steps)

    def _segment(self) -> list[Step | None]:
        """Bare segments up to the next bracket, or one quoted segment; a bare `it` is None until `_it`."""
        if self.scan.glued('"'):
            return [str(self.scan.quoted())]
        start = self.scan.here
        word = self.scan.word()
        if self.scan.here != start or not word:
            raise self.scan.problem("expected a path", start)
        ends_open = word.endswith(".")  # a quoted segment follows
        self.scan.here += len(word) - ends_open
        parts = word.removesuffix(".").split(".")
        if not all(parts) or (ends_open and not self.scan.text[self.scan.here + 1 : self.scan.here + 2] == '"'):
            raise self.scan.problem("a path has an empty segment", start)
        return [None if part == "it" else int(part) if _INDEX.fullmatch(part) else part for part in parts]

    def _bracket(self) -> Step:
        self.scan.here += 1
        if self.scan.take_sign("]"):
            return Wildcard()
        word = self.scan.word()
        if _INDEX.fullmatch(word) and self.scan.text[self.scan.skip() + len(word) :].lstrip().startswith("]"):
            self.scan.take_word()
            self.scan.expect("]", "after the index")
            return int(word)
        condition = self.formula("item")
        self.scan.expect("]", "to close the filter")
        return Filter(condition)

    @staticmethod
    def _it(path: tuple[Step | None, ...]) -> tuple[Step, ...]:
        """`it` at the front is the value itself, so that a whole answer can be filtered: `tool.it[id = 1]`."""
        inner = path[1:] if path[:1] == (None,) else path
        return tuple("it" if step is None else step for step in inner)
