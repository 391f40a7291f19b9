"""Printing that outlives its reader."""

from __future__ import annotations

import os
from typing import TextIO


def say(text: str, stream: TextIO) -> None:
    """Print `text` as it is and at once.

    When whoever read `stream` has gone (`| head`), later text goes nowhere: the run still owes its reports and its
    exit code.
    """
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
