"""Flows are collected by the weight of their bodies."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from weakref import ref

import pytest
from mitmproxy import http
from mitmproxy.test import tflow

from flowproof_addons.hooks.garbage import Garbage


@pytest.fixture(autouse=True)
def nothing_is_collected_by_count() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


def cyclic(size: int) -> http.HTTPFlow:
    """A flow as mitmproxy leaves it: reachable from itself."""
    flow = tflow.tflow()
    flow.request.raw_content = b"x" * size
    flow.metadata["self"] = flow
    return flow


@pytest.mark.parametrize(("size", "kept"), [(1024, True), (20 * 1024 * 1024, False)])
@pytest.mark.parametrize("hook", ["response", "error"])
def test_what_was_answered_is_let_go_once_enough_has_gone_by(hook: str, size: int, kept: bool) -> None:
    garbage = Garbage()
    flow = cyclic(size)
    gone = ref(flow)
    getattr(garbage, hook)(flow)
    del flow
    getattr(garbage, hook)(cyclic(size))
    assert (gone() is not None) is kept


def test_a_start_leaves_what_is_there_out_of_every_collection() -> None:
    try:
        Garbage().running()
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()
