"""Pydantic without the plugins of other packages, whose search reads the metadata of everything installed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

_SWITCH = "PYDANTIC_DISABLE_PLUGINS"


@contextmanager
def unplugged() -> Iterator[None]:
    """Within, models are built without that search. No agent may be started: it would inherit the switch."""
    before = os.environ.get(_SWITCH)
    os.environ[_SWITCH] = "__all__"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_SWITCH]
        else:
            os.environ[_SWITCH] = before
