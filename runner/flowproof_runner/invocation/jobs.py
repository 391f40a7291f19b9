"""How many flows run at a time."""

from __future__ import annotations

import os

from flowproof_addons import FlowproofError


class JobsError(FlowproofError):
    """`--jobs` is no number of flows."""


def parallel(text: str) -> int:
    """How many flows at a time `--jobs` means: a number, or `auto` for one per processor.

    Raises JobsError for anything else.
    """
    if text == "auto":
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if text.isascii() and text.isdigit() and 1 <= int(text) <= 1000:
        return int(text)
    raise JobsError(f"--jobs {text!r}: give how many flows to run at a time, a whole number from 1, or auto")
