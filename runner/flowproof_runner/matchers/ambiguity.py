"""Can a regular expression be made to search for ever? Judged by the ways in which it can match one and the same text.

Python's `re` tries every way before it gives up. Two ways to go round a loop over the same text are twice as many with
each round: exponential. A loop beside a loop over the same characters can share them out in every way: a power of the
text's length. Both are read off the position automaton (Glushkov 1961; the criterion is Weber and Seidl's of 1991):
a node for each character the pattern can consume, an edge, with the number of ways, for each that may come next.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product
from typing import Literal

from flowproof_runner.matchers.atoms import ONCE, Alphabet, Atom, Group, Node, parsed

type Trouble = Literal["exponential", "neighbours", "too large"]

_LARGEST = 160
"""Nodes of one loop: more pairs of them than a spec's check should take the time for."""
_MANY = 10
"""A repetition that may be this much longer or shorter is as good as an unbounded one."""


def trouble(pattern: re.Pattern[str]) -> Trouble | None:
    """What makes searching with the pattern slow without bound; None where nothing does."""
    alphabet = Alphabet(pattern)
    top = parsed(pattern.pattern)
    for part in (top, *_lookarounds(top)):
        automaton = _Automaton(alphabet)
        automaton.add(part)
        if found := automaton.trouble():
            return found
    return None


def _lookarounds(node: Node) -> Iterator[Group]:
    if isinstance(node, Group):
        for branch in node.branches:
            for inner in branch:
                yield from _lookarounds(inner)
        if node.zero_width:
            yield Group(ONCE, node.branches)


@dataclass(frozen=True, slots=True)
class _Span:
    """A part of the automaton: where it can begin and end, and whether it can be passed without a character."""

    first: tuple[int, ...] = ()
    last: tuple[int, ...] = ()
    empty: bool = True


@dataclass(slots=True)
class _Automaton:
    alphabet: Alphabet
    sets: list[int] = field(default_factory=list)
    """Per node the characters it takes, as bits of the alphabet."""
    ways: list[Counter[int]] = field(default_factory=list)
    """Per node the nodes after it, and in how many ways."""
    beside: bool = False
    """Two loops over common characters stand side by side."""

    def add(self, node: Node) -> _Span:
        """Put a part in, as often as it is repeated."""
        low, high = node.often
        if high is None or high - low >= _MANY:
            copies = [self._once(node) for _ in range(max(1, min(low, _MANY)))]
            loop = copies[-1]
            self._connect(loop.last, loop.first)
            copies[-1] = _Span(loop.first, loop.last, loop.empty or low == 0)
            return self._row(copies)
        fixed = [self._once(node) for _ in range(min(low, _LARGEST))]
        free = _Span()
        for _ in range(high - low):
            copy = self._row([self._once(node), free])
            free = _Span(copy.first, copy.last, True)
        return self._row([*fixed, free])

    def _once(self, node: Node) -> _Span:
        if isinstance(node, Atom):
            self.sets.append(self.alphabet.bits(node.source))
            self.ways.append(Counter())
            return _Span((len(self.sets) - 1,), (len(self.sets) - 1,), False)
        if node.zero_width:
            return _Span()
        branches = [self._branch(branch) for branch in node.branches]
        return _Span(
            tuple(first for branch in branches for first in branch.first),
            tuple(last for branch in branches for last in branch.last),
            any(branch.empty for branch in branches),
        )

    def _branch(self, nodes: Sequence[Node]) -> _Span:
        spans = [self.add(node) for node in nodes]
        for (left, before), (right, after) in pairwise(zip(nodes, spans, strict=True)):
            if left.loops(-1) and right.loops(0):
                pairs = product(before.last, after.first)
                self.beside |= any(self.sets[a] & self.sets[b] for a, b in pairs if self._loops(a) and self._loops(b))
        return self._row(spans)

    def _row(self, spans: Iterable[_Span]) -> _Span:
        whole = _Span()
        for span in spans:
            self._connect(whole.last, span.first)
            whole = _Span(
                (*whole.first, *(span.first if whole.empty else ())),
                (*span.last, *(whole.last if span.empty else ())),
                whole.empty and span.empty,
            )
        return whole

    def _connect(self, ends: Iterable[int], begins: Sequence[int]) -> None:
        for end in ends:
            self.ways[end].update(begins)

    def _loops(self, node: int) -> bool:
        return node in self.ways[node]

    def trouble(self) -> Trouble | None:
        """Judge what was put in."""
        for loop in _components(self.ways):
            if any(self.ways[node][after] > 1 for node in loop for after in self.ways[node] if after in loop):
                return "exponential"
            if len(loop) > _LARGEST:
                return "too large"
            if self._parts_and_meets(loop):
                return "exponential"
        return "neighbours" if self.beside or self._three_in_a_row() else None

    def _parts_and_meets(self, loop: frozenset[int]) -> bool:
        """True if two ways round the loop over the same text part and meet again."""
        numbers = {pair: number for number, pair in enumerate(product(sorted(loop), repeat=2))}
        steps: list[Counter[int]] = [
            Counter(
                numbers[one, other]
                for one, other in product(self.ways[a].keys() & loop, self.ways[b].keys() & loop)
                if self.sets[one] & self.sets[other]
            )
            for a, b in numbers
        ]
        same = {number for (a, b), number in numbers.items() if a == b}
        return any(component & same and component - same for component in _components(steps))

    def _three_in_a_row(self) -> bool:
        loops = [node for node in range(len(self.sets)) if self._loops(node)]
        after = {a: [b for b in loops if a != b and b in self.ways[a] and self.sets[a] & self.sets[b]] for a in loops}
        return any(self.sets[a] & self.sets[b] & self.sets[c] for a in loops for b in after[a] for c in after[b])


def _components(edges: Sequence[Counter[int]]) -> Iterator[frozenset[int]]:
    """The strongly connected parts of a graph that hold a cycle (Tarjan's algorithm, without recursion)."""
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    held: set[int] = set()
    for root in range(len(edges)):
        if root in order:
            continue
        work = [(root, iter(edges[root]))]
        order[root] = low[root] = len(order)
        stack.append(root)
        held.add(root)
        while work:
            node, rest = work[-1]
            for after in rest:
                if after not in order:
                    order[after] = low[after] = len(order)
                    stack.append(after)
                    held.add(after)
                    work.append((after, iter(edges[after])))
                    break
                if after in held:
                    low[node] = min(low[node], order[after])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == order[node]:
                    component = set[int]()
                    while node not in component:
                        component.add(stack.pop())
                    held -= component
                    if len(component) > 1 or node in edges[node]:
                        yield frozenset(component)
