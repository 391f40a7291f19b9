from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from flowproof_addons.mcp.message import Key
from flowproof_addons.mcp.queue import Queue


def keys(text: str) -> list[Key]:
    return [Key(letter) for letter in text]


def test_calls_in_recorded_order_are_released_one_by_one() -> None:
    queue = Queue(keys("abc"))
    released = []
    for ticket, key in enumerate(keys("abc")):
        assert queue.claim(ticket, key) == ticket
        released += queue.release()
    assert released == [(0, 0), (1, 1), (2, 2)]
    assert queue.unclaimed == ()
    assert queue.reordered == 0


def test_a_call_recorded_later_is_parked_until_the_earlier_ones_come() -> None:
    queue = Queue(keys("abc"))
    assert queue.claim(7, Key("c")) == 2
    assert queue.release() == []
    assert queue.parked(2)
    assert queue.claim(8, Key("b")) == 1
    assert queue.release() == []
    assert queue.claim(9, Key("a")) == 0
    assert queue.release() == [(0, 9), (1, 8), (2, 7)]
    assert queue.reordered == 2


def test_equal_calls_are_answered_in_recorded_order() -> None:
    queue = Queue(keys("aa"))
    assert [queue.claim(ticket, Key("a")) for ticket in range(2)] == [0, 1]
    assert queue.claim(2, Key("a")) is None


def test_an_unknown_call_names_the_one_that_was_due() -> None:
    queue = Queue(keys("ab"))
    queue.claim(0, Key("a"))
    queue.release()
    assert queue.claim(1, Key("z")) is None
    assert queue.first_free == 1


def test_a_parked_call_can_be_given_back() -> None:
    queue = Queue(keys("ab"))
    place = queue.claim(0, Key("b"))
    assert place == 1
    queue.give_back(place, Key("b"))
    assert queue.unclaimed == (0, 1)
    assert queue.claim(1, Key("b")) == 1


@given(st.data())
def test_every_permutation_of_the_recorded_calls_is_released_whole_and_in_recorded_order(data: st.DataObject) -> None:
    recorded = data.draw(st.lists(st.sampled_from("abcd"), max_size=8))
    arrival = data.draw(st.permutations(recorded))
    queue = Queue([Key(key) for key in recorded])
    released: list[int] = []
    for ticket, key in enumerate(arrival):
        assert queue.claim(ticket, Key(key)) is not None
        released += [place for place, _ in queue.release()]
    assert released == list(range(len(recorded)))
    assert queue.unclaimed == ()
