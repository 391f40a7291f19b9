"""What led a request to the boundary is read from its path."""

from __future__ import annotations

import pytest

from flowproof_addons.dialects.registry import default
from flowproof_runner.doctor import via

URL = "http://127.0.0.1:4000"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/via-OPENAI_BASE_URL/v1/responses", ("OPENAI_BASE_URL", "/v1/responses")),
        ("/via-handle/v1/messages", (via.HANDLE, "/v1/messages")),
        ("/v1/messages", ("", "/v1/messages")),
        ("/viaduct/v1/messages", ("", "/viaduct/v1/messages")),
    ],
)
def test_the_mark_names_the_variable_and_is_taken_off(path: str, expected: tuple[str, str]) -> None:
    assert via.read(path) == expected


def test_every_variable_keeps_its_own_ending_behind_its_mark() -> None:
    marked = via.variables(URL)
    assert marked.keys() == via.offered(URL).keys()
    assert marked["OPENAI_BASE_URL"] == f"{URL}/via-OPENAI_BASE_URL/v1"
    assert marked["ANTHROPIC_BASE_URL"] == f"{URL}/via-ANTHROPIC_BASE_URL"


def test_a_marked_path_is_still_the_dialects() -> None:
    assert default().find("POST", "/via-OPENAI_BASE_URL/v1/chat/completions") is not None
