"""Tells where mitmweb is, and keeps it open until the user has seen enough."""

from __future__ import annotations

from typing import TextIO

from flowproof_runner.boundary.client import Boundary
from flowproof_runner.program.interruption import Interrupted


def announce(boundary: Boundary, out: TextIO) -> None:
    """Say where a run can be watched. Raises BoundaryError if mitmweb does not start."""
    boundary.ready()
    print(f"mitmweb: {boundary.web}", file=out, flush=True)


def hold(boundary: Boundary, out: TextIO) -> None:
    """Wait until the user ends it, or mitmweb ends: either is as it should be."""
    try:
        print(f"mitmweb stays open at {boundary.web}\nCtrl-C ends it.", file=out, flush=True)
        boundary.wait()
    except Interrupted as signal:
        print(f"mitmweb ended ({signal})", file=out, flush=True)
