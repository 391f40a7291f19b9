"""Servers that listen for as long as a test takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import pytest
from tests.e2e.mcp.lanes import Listening, listen


@pytest.fixture
def listening() -> Iterator[Callable[[Sequence[str], Mapping[str, str]], Listening]]:
    """Start HTTP servers (`{port}` stands for a free one); each ends with the test, if not before."""
    running: list[Listening] = []

    def start(argv: Sequence[str], env: Mapping[str, str]) -> Listening:
        running.append(listen(argv, env))
        return running[-1]

    yield start
    for each in running:
        each.stop()
