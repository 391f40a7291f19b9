"""Who serves the trapped calls, and which answers are kept for a call that a signal repeats."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable
from queue import SimpleQueue
from types import SimpleNamespace

import pytest

from flowproof_runner.containment import crew as crews
from flowproof_runner.containment.crew import Crew
from flowproof_runner.containment.notify import Answer, Listener, Reply
from flowproof_runner.containment.target import Call


class Deaf(Listener):
    """A listener whose tasks are interrupted before any answer reaches them."""

    def __init__(self, *, killable: bool) -> None:
        super().__init__(-1, killable=killable)
        self.answers: list[Reply] = []
        self.reached = False

    def answer(self, call: Call, reply: Reply) -> bool:
        self.answers.append(reply)
        return self.reached


class Queue(Listener):
    """A listener one can put calls into."""

    def __init__(self) -> None:
        super().__init__(-1, killable=True)
        self.calls: SimpleQueue[Call] = SimpleQueue()
        self.answers: SimpleQueue[Reply] = SimpleQueue()

    def receive(self) -> Call | None:
        return self.calls.get()

    def answer(self, call: Call, reply: Reply) -> bool:
        self.answers.put(reply)
        return True


def call(number: int = 46, first: int = 3) -> Call:
    return Call(-1, 1, 4242, number, (first, 0, 0, 0, 0, 0))


@pytest.mark.parametrize(("killable", "times"), [(False, 1), (True, 2)])
def test_on_an_old_kernel_a_repeated_call_is_answered_with_what_was_done(killable: bool, times: int) -> None:
    done: list[Call] = []

    def send(one: Call) -> Reply:
        done.append(one)
        return 6

    listener = Deaf(killable=killable)
    crew = Crew(listener, {46: send}, fault=pytest.fail)
    crew._serve(call())
    listener.reached = True
    crew._serve(call())
    assert (len(done), listener.answers) == (times, [6, 6])
    crew._serve(call())
    assert len(done) == times + 1, "the next one is a new one"


def test_another_call_and_a_refused_one_are_never_taken_for_a_repetition() -> None:
    replies: list[Reply] = [6, -errno.EACCES, -errno.EACCES, Answer(-errno.EPIPE)]
    listener = Deaf(killable=False)
    crew = Crew(listener, {46: lambda _: replies.pop(0)}, fault=pytest.fail)
    crew._serve(call(first=3))
    crew._serve(call(first=4))
    crew._serve(call(first=4))
    assert listener.answers == [6, -errno.EACCES, -errno.EACCES]


def test_a_result_is_not_kept_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crews, "REPEAT_S", -1.0)
    replies: list[Reply] = [6, 7]
    listener = Deaf(killable=False)
    crew = Crew(listener, {46: lambda _: replies.pop(0)}, fault=pytest.fail)
    crew._serve(call())
    crew._serve(call())
    assert listener.answers == [6, 7]


def until(happened: Callable[[], bool]) -> None:
    while not happened():
        os.sched_yield()


QUICK, STUCK, FREEING = 1, 2, 3


def test_quick_calls_are_all_served_by_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    served: set[int] = set()
    looks, looking = threading.Semaphore(0), threading.Semaphore(0)

    def patience(_: float) -> None:
        looking.release()
        looks.acquire()

    def quick(_: Call) -> Reply:
        served.add(threading.get_ident())
        return 0

    monkeypatch.setattr(crews, "time", SimpleNamespace(sleep=patience))
    listener = Queue()
    crew = Crew(listener, {QUICK: quick}, fault=pytest.fail)
    crew.hire()
    crew.hire(standby=True)
    for _ in range(10):
        listener.calls.put(call(QUICK))
        assert looking.acquire(timeout=5), "the one on standby is told that there was a call"
        listener.answers.get(timeout=5)
        listener.calls.put(call(QUICK))  # two calls, each done before the look: nothing takes long
        listener.answers.get(timeout=5)
        until(lambda: crew._answered == crew._taken)
        looks.release()
        until(lambda: not crew._some.is_set())
    assert len(served) == 1


def test_a_call_that_waits_for_later_ones_gets_them_served() -> None:
    """A file system the agent serves itself would never answer a supervisor that waits for it with all it has."""
    freed = threading.Semaphore(0)

    def stuck(_: Call) -> Reply:
        return 1 if freed.acquire(timeout=5) else 2

    def freeing(_: Call) -> Reply:
        freed.release()
        return 0

    listener = Queue()
    crew = Crew(listener, {STUCK: stuck, FREEING: freeing}, fault=pytest.fail)
    crew.hire()
    crew.hire(standby=True)
    for count in (1, 5, 1):
        for number in [STUCK] * count + [FREEING] * count:
            listener.calls.put(call(number))
        assert sorted(listener.answers.get(timeout=10) for _ in range(2 * count)) == [0] * count + [1] * count


def test_when_no_more_threads_can_be_had_those_there_are_go_on_without_blocking(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started: list[threading.Thread] = []

    def refused(thread: threading.Thread) -> None:
        if started:
            raise RuntimeError("can't start new thread")
        started.append(thread)

    monkeypatch.setattr(threading.Thread, "start", refused)
    crew = Crew(Deaf(killable=True), {}, fault=pytest.fail)
    crew.hire()
    assert not crew.crowded
    crew.hire()
    with crew._lock:
        crew._idle -= 1  # what the one that works does
    assert crew.crowded
    started.append(threading.current_thread())
    with pytest.raises(RuntimeError):
        Crew(Deaf(killable=True), {}, fault=pytest.fail).hire()
