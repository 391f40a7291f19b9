"""Which bytes of a message come next."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from flowproof_runner.containment import delivery


@given(
    sizes=st.lists(st.integers(0, 50), max_size=6),
    cuts=st.lists(st.integers(1, 40), min_size=1, max_size=200),
)
def test_slices_of_a_message_cover_it_once_in_order(sizes: list[int], cuts: list[int]) -> None:
    vectors = [(1000 * number, size) for number, size in enumerate(sizes)]
    whole = [address + offset for address, size in vectors for offset in range(size)]
    seen: list[int] = []
    for limit in (cuts * (len(whole) + 1))[: len(whole) + 1]:
        part = delivery._slice(vectors, len(seen), limit)
        got = [address + offset for address, size in part for offset in range(size)]
        assert len(got) == min(limit, len(whole) - len(seen))
        seen += got
    assert seen == whole
