"""Which flowproof this is."""

from __future__ import annotations

from functools import cache


@cache
def version() -> str:
    """`0.1.0`; read from the installed distribution, which is the one place it is written."""
    from importlib import metadata

    return metadata.version("flowproof-mitmproxy")
