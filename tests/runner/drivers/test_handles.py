"""Handles are replaced once, by value; unknown ones pass through and are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowproof_runner.drivers.base import Addresses
from flowproof_runner.drivers.handles import Handles, handles, warning


@pytest.fixture
def known() -> Handles:
    addresses = Addresses("http://127.0.0.1:9", {"files": "http://127.0.0.1:8/mcp"}, {"files": "stand-in"})
    return handles("say ${flowproof.run_dir}; $(rm)", addresses, Path("/runs/1"))


@pytest.mark.parametrize(
    "text, expected",
    [
        ("${flowproof.prompt}", "say ${flowproof.run_dir}; $(rm)"),
        ("--url=${flowproof.proxy_url}", "--url=http://127.0.0.1:9/v1"),
        ("${flowproof.proxy_url_no_v1}/x", "http://127.0.0.1:9/x"),
        ("${flowproof.mcp_url.files}", "http://127.0.0.1:8/mcp"),
        ("${flowproof.mcp_server.files}", "stand-in"),
        ("${flowproof.run_dir}/out ${flowproof.run_dir}", "/runs/1/out /runs/1"),
        ("${flowproof.nothing}", "${flowproof.nothing}"),
        ("$${flowproof.prompt}", "${flowproof.prompt}"),
        ("$${flowproof.nothing}", "${flowproof.nothing}"),
        ("${OTHER} $flowproof.prompt", "${OTHER} $flowproof.prompt"),
    ],
)
def test_a_handle_is_replaced_by_its_value_and_never_twice(known: Handles, text: str, expected: str) -> None:
    assert known.fill(text) == expected


def test_unknown_handles_are_named_once(known: Handles) -> None:
    assert known.unknown(
        ["${flowproof.a} ${flowproof.prompt} $${flowproof.c}", "${flowproof.a}${flowproof.mcp_url.b}"]
    ) == (
        "flowproof.a",
        "flowproof.mcp_url.b",
    )


def test_the_warning_says_which_handles_there_are(known: Handles) -> None:
    assert warning("flowproof.a", known) == (
        "unknown handle ${flowproof.a} is passed on as it is; known here: flowproof.mcp_server.files,"
        " flowproof.mcp_url.files, flowproof.prompt, flowproof.proxy_url, flowproof.proxy_url_no_v1, flowproof.run_dir"
    )
