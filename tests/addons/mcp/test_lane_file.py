from __future__ import annotations

import pytest

from flowproof_addons.mcp import lane_file
from flowproof_addons.mcp.lane import Lane
from flowproof_addons.trace.model import JsonValue


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "mcp.files: an object is expected here"),
        ({"calls": {}}, "mcp.files.calls: a list is expected here"),
        ({"speed": 1}, "mcp.files.speed: not known to this version"),
        ({"calls": [{"method": "tools/call", "params": {}}]}, "mcp.files.calls[0]: 'opened' is missing"),
        (
            {"calls": [{"method": "tools/call", "params": [], "opened": 1}]},
            "mcp.files.calls[0].params: Mapping[str, JsonValue] is expected here",
        ),
        (
            {"pushes": [{"at": 1, "message": "hello"}]},
            "mcp.files.pushes[0].message: Message is expected here",
        ),
    ],
)
def test_a_damaged_lane_is_refused_with_the_place(value: JsonValue, said: str) -> None:
    with pytest.raises(lane_file.LaneFileError) as caught:
        lane_file.load("files", value)
    assert str(caught.value).startswith(said)


def test_what_is_at_its_default_is_not_written() -> None:
    assert lane_file.dump(Lane()) == {}
    assert lane_file.load("files", {}) == Lane()
