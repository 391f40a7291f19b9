"""Signals unwind once."""

from __future__ import annotations

import os
import signal
import time

import pytest

from flowproof_runner.program.interruption import Interrupted, interruptible


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_becomes_an_exception_with_the_exit_code_shells_expect(number: int, code: int) -> None:
    with pytest.raises(Interrupted) as caught, interruptible():
        os.kill(os.getpid(), number)
        time.sleep(5)  # cut short by the signal
    assert caught.value.exit_code == code


def test_a_second_signal_does_not_cut_the_cleaning_short() -> None:
    cleaned = False
    with pytest.raises(Interrupted), interruptible():
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(5)
        finally:
            os.kill(os.getpid(), signal.SIGTERM)
            os.kill(os.getpid(), signal.SIGINT)
            cleaned = True
    assert cleaned


def test_handlers_are_put_back() -> None:
    before = signal.getsignal(signal.SIGINT)
    with interruptible():
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before
