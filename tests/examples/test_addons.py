"""The addon examples: a dialect of one's own, proved by the conformance kit and by a flow recorded with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from flowproof_addons import userfile
from flowproof_addons.dialects.registry import default
from flowproof_addons.testing import Sample, check
from flowproof_addons.trace.model import JsonBody, JsonValue, Request

FOLDER = Path(__file__).parents[2] / "examples" / "addons" / "inhouse"

ASKED: JsonValue = {
    "engine": "in-1",
    "rules": "Be brief.",
    "can": ["look_up"],
    "live": True,
    "log": [
        {"who": "user", "say": "How is it?"},
        {
            "who": "engine",
            "run": [
                {"ref": "1", "tool": "look_up", "with": {"q": "x"}},
                {"ref": "2", "tool": "look_up", "with": {"q": "y"}},
            ],
        },
        {"who": "tool", "ref": "1", "gave": {"found": 1}},
        {"who": "tool", "ref": "2", "gave": "nothing", "failed": True},
    ],
}
SAID: JsonValue = {"id": "i-1", "engine": "in-1", "say": "Fine, I think.", "cost": {"in": 9, "out": 4}, "end": "done"}
CALLS: JsonValue = {"id": "i-2", "run": [{"ref": "3", "tool": "look_up", "with": {"q": "z"}}], "end": "run"}
STREAM = b'{"id":"i-1","engine":"in-1"}\n{"say":"Fine, "}\n{"say":"I think."}\n{"cost":{"in":9,"out":4},"end":"done"}\n'


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    """What an addon file registers holds in its whole process, which here is other tests' too."""
    before = default().dialects
    yield
    default().dialects = before


def test_the_dialect_passes_the_kit_and_is_short() -> None:
    userfile.load(FOLDER / "dialect.py")
    dialect = default().named("inhouse")
    assert dialect is not None
    request = Request("POST", "/answer", "", JsonBody(ASKED))
    check(dialect, [Sample(request, SAID, STREAM), Sample(request, CALLS)])
    code = [line for line in (FOLDER / "dialect.py").read_text().splitlines() if line.strip()]
    assert len(code) < 60
