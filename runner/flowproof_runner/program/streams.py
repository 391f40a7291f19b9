"""Standard streams as a program may find them: closed, full, or spoken in an alphabet that lacks half of ours."""

from __future__ import annotations

import codecs
import io
import os
import sys
from typing import TextIO

_STREAMS = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))
_SPELT = {"✗": "x", "✓": "+", "→": "->", "·": "-", "…": "...", "—": "-", "│": "|"}
"""Our own signs in letters any alphabet has: a Windows console knows few of them."""


def prepare() -> None:
    """Make all three usable: what is closed leads nowhere, and no character is too odd to be printed.

    A closed one also leaves its number free, which the next file to be opened would get, and with it all that is
    printed.
    """
    for number, (name, mode) in enumerate(_STREAMS):
        if getattr(sys, name) is None:
            nowhere(number)
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="flowproof")


def _spelt(error: UnicodeError) -> tuple[str, int]:
    """What is printed for characters that a stream's alphabet lacks."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(_SPELT.get(c) or c.encode("ascii", "backslashreplace").decode() for c in lacking), error.end


codecs.register_error("flowproof", _spelt)


def nowhere(number: int) -> None:
    """What is written to this descriptor from now on goes nowhere."""
    opened = os.open(os.devnull, os.O_RDWR)
    if opened != number:
        os.dup2(opened, number)
        os.close(opened)


def tell(text: str, stream: TextIO) -> bool:
    """Print a text as it is, and all that is still held, at once. False if it could not be written.

    From then on the stream leads nowhere: the run still owes its reports and its exit code. Where its reader has gone
    (`| head`) that is all right, and True; where its disk is full stderr is told.
    """
    try:
        stream.write(text)
        stream.flush()
    except OSError as error:
        nowhere(stream.fileno())
        if isinstance(error, BrokenPipeError):
            return True
        if stream is not sys.stderr:
            tell(f"flowproof: stdout cannot be written: {error.strerror}\n", sys.stderr)
        return False
    return True
