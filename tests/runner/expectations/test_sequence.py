"""An ordered claim is found whenever one exists."""

from itertools import groupby, permutations

from hypothesis import given
from hypothesis import strategies as st

from flowproof_runner.expectations.sequence import claim

type Call = tuple[int, frozenset[int]]
"""Its group, and the demands it fits."""


def fits(demand: int, call: Call) -> bool:
    return demand in call[1]


def possible(demands: list[int], calls: list[Call]) -> bool:
    """By brute force: some order of each group holds the demands as a subsequence."""
    if not demands:
        return True
    grouped = [list(members) for _, members in groupby(calls, lambda call: call[0])]

    def met_from(group: int, met: int) -> bool:
        if met == len(demands):
            return True
        if group == len(grouped):
            return False
        return any(
            met_from(group + 1, taken) for order in permutations(grouped[group]) for taken in subsequences(order, met)
        )

    def subsequences(order: tuple[Call, ...], met: int) -> set[int]:
        reached = {met}
        for call in order:
            reached |= {at + 1 for at in reached if at < len(demands) and fits(demands[at], call)}
        return reached

    return met_from(0, 0)


runs = st.lists(st.tuples(st.integers(0, 3), st.frozensets(st.integers(0, 3))), max_size=6).map(
    lambda calls: sorted(calls, key=lambda call: call[0])
)


@given(st.lists(st.integers(0, 3), max_size=5), runs)
def test_every_claim_that_exists_is_found(demands: list[int], calls: list[Call]) -> None:
    claimed = claim(demands, calls, fits, lambda call: call[0])
    assert (len(claimed) == len(demands)) == possible(demands, calls)
    longest = max(n for n in range(len(demands) + 1) if possible(demands[:n], calls))
    assert len(claimed) == longest


@given(st.lists(st.integers(0, 3), max_size=5), runs)
def test_a_claim_is_in_order_and_uses_each_call_once(demands: list[int], calls: list[Call]) -> None:
    numbered = [(group, wanted, number) for number, (group, wanted) in enumerate(calls)]
    claimed = claim(demands, numbered, lambda demand, call: demand in call[1], lambda call: call[0])
    assert all(demand in call[1] for demand, call in zip(demands, claimed, strict=False))
    assert [call[0] for call in claimed] == sorted(call[0] for call in claimed)
    assert len({call[2] for call in claimed}) == len(claimed)


def test_a_greedy_choice_is_taken_back() -> None:
    """Demand 1 fits only the first call of the group, which demand 0 would have taken."""
    calls = [(0, frozenset({0, 1})), (0, frozenset({0}))]
    assert claim([0, 1], calls, fits, lambda call: call[0]) == [calls[1], calls[0]]
