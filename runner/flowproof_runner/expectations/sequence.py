"""Which calls an ordered list of demands can claim, each call once, calls of one parallel group in any order.

Groups are ordered, so every group serves a run of consecutive demands. Serving as many as possible in each group is
never worse: a demand that an earlier group could serve is one less for later ones. Within a group it is bipartite
matching, grown demand by demand with augmenting paths.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby


def claim[D, C](
    demands: Sequence[D], calls: Iterable[C], fits: Callable[[D, C], bool], group: Callable[[C], int]
) -> list[C]:
    """The calls claimed by the longest prefix of `demands` that can be met, in the demands' order.

    `calls` come ordered by group.
    """
    claimed: list[C] = []
    for _, members in groupby(calls, group):
        claimed += _claim_in(demands[len(claimed) :], list(members), fits)
    return claimed


def _claim_in[D, C](demands: Sequence[D], members: list[C], fits: Callable[[D, C], bool]) -> list[C]:
    """The same within one group, where order does not count."""
    owner: dict[int, int] = {}
    met = 0
    while met < len(demands) and _augment(met, demands, members, fits, owner, set()):
        met += 1
    by_demand = {demand: members[member] for member, demand in owner.items()}
    return [by_demand[number] for number in range(met)]


def _augment[D, C](
    demand: int,
    demands: Sequence[D],
    members: list[C],
    fits: Callable[[D, C], bool],
    owner: dict[int, int],
    tried: set[int],
) -> bool:
    """Give `demand` a member, moving earlier demands to other members where that frees one."""
    for number, member in enumerate(members):
        if number in tried or not fits(demands[demand], member):
            continue
        tried.add(number)
        if number not in owner or _augment(owner[number], demands, members, fits, owner, tried):
            owner[number] = demand
            return True
    return False
