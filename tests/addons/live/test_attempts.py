"""Which failed tries are kept, and as what."""

import pytest

from flowproof_addons.live.attempts import Attempts
from flowproof_addons.trace.model import BytesBody, Exchange, Reply, Request


def exchange(status: int) -> Exchange:
    return Exchange(Request("POST", "/v1/messages", "", BytesBody(b"{}")), Reply(status, BytesBody(b"")))


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
def test_a_try_the_client_repeats_is_noted_on_the_success(status: int) -> None:
    attempts = Attempts()
    assert attempts.settle(b"k", exchange(status)) is None
    kept = attempts.settle(b"k", exchange(200))
    assert kept is not None
    assert (kept.reply.status, [a.status for a in kept.attempts]) == (200, [status])
    assert attempts.unsettled() == []


@pytest.mark.parametrize("status", [200, 400, 401, 403, 404, 406, 422])
def test_an_answer_no_client_repeats_is_final(status: int) -> None:
    kept = Attempts().settle(b"k", exchange(status))
    assert kept is not None
    assert kept.reply.status == status


def test_a_success_of_another_request_settles_nothing() -> None:
    attempts = Attempts()
    attempts.settle(b"one", exchange(429))
    other = attempts.settle(b"two", exchange(200))
    assert other is not None
    assert other.attempts == ()
    assert [e.reply.status for e in attempts.unsettled()] == [429]


def test_failures_to_the_end_are_each_kept_so_that_replay_fails_as_often() -> None:
    attempts = Attempts()
    for _ in range(3):
        attempts.settle(b"k", exchange(500))
    assert [e.reply.status for e in attempts.unsettled()] == [500, 500, 500]
    assert attempts.unsettled() == []
