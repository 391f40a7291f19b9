"""Who serves the trapped calls, and which answers are kept for a call that a signal repeats."""

from __future__ import annotations

import errno
import threading

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
