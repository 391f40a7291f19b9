"""What counts as done differently, and what as told differently."""

from __future__ import annotations

from dataclasses import replace

import pytest

from flowproof_runner.trajectory.change import Change
from flowproof_runner.trajectory.difference import difference
from flowproof_runner.trajectory.model import Call, Prompt, Trajectory

SEARCH = Call("search", {"to": "NBO", "seats": [1, 2]})
BOOK = Call("book", {"id": "KQ311"})
PAY = Call("pay", {})
BASE = Trajectory(
    calls=(SEARCH, BOOK),
    reply="It is booked.",
    prompts=(Prompt("system", "You book flights."), Prompt("user", "To Nairobi")),
    models=("gpt-5-mini",),
    tools={"search": {"name": "search", "description": "Finds"}, "book": None},
    servers={"files": {"read": {"name": "read"}}},
    settings={"temperature": 0},
)


def test_a_run_does_not_differ_from_itself() -> None:
    assert not difference(BASE, BASE)


@pytest.mark.parametrize(
    "after, changes",
    [
        pytest.param(
            replace(BASE, calls=(SEARCH, BOOK, PAY)),
            [Change("added", "pay is called in addition", after="{}", tool="pay")],
            id="added",
        ),
        pytest.param(
            replace(BASE, calls=(SEARCH,)),
            [Change("removed", "book is called no more", before='{"id": "KQ311"}', tool="book")],
            id="removed",
        ),
        pytest.param(
            replace(BASE, calls=(BOOK, SEARCH)),
            [Change("moved", "book is called at another place", tool="book")],
            id="moved",
        ),
        pytest.param(
            replace(BASE, calls=(Call("search", {"to": "MBA", "seats": [1], "day": None}), BOOK)),
            [
                Change("arguments", "search: to", '"NBO"', '"MBA"', "search"),
                Change("arguments", "search: seats.1", "2", None, "search"),
                Change("arguments", "search: day", None, "null", "search"),
            ],
            id="arguments",
        ),
        pytest.param(
            replace(BASE, reply="It is held."),
            [Change("reply", "the reply", "It is booked.", "It is held.")],
            id="reply",
        ),
        pytest.param(replace(BASE, reply=None), [Change("reply", "the reply", "It is booked.", None)], id="no reply"),
    ],
)
def test_what_the_agent_does(after: Trajectory, changes: list[Change]) -> None:
    found = difference(BASE, after)
    assert list(found.does) == changes
    assert found.told == ()


@pytest.mark.parametrize(
    "after, changes",
    [
        pytest.param(
            replace(BASE, prompts=(Prompt("system", "You book trains."), BASE.prompts[1])),
            [Change("prompt", "system text", "You book flights.", "You book trains.")],
            id="span",
        ),
        pytest.param(
            replace(BASE, prompts=(*BASE.prompts, Prompt("user", "Hurry"))),
            [Change("prompt", "user text is new", after="Hurry")],
            id="new text",
        ),
        pytest.param(
            replace(BASE, prompts=BASE.prompts[:1]),
            [Change("prompt", "user text is gone", before="To Nairobi")],
            id="gone text",
        ),
        pytest.param(
            replace(BASE, models=("gpt-6",)),
            [Change("model", "the model asked for", "gpt-5-mini", "gpt-6")],
            id="model",
        ),
        pytest.param(
            replace(BASE, tools={"search": {"name": "search", "description": "Seeks"}, "pay": None}),
            [
                Change("tool", "tool search offered: description", '"Finds"', '"Seeks"', "search"),
                Change("tool", "tool book is no longer offered", tool="book"),
                Change("tool", "tool pay is offered in addition", tool="pay"),
            ],
            id="tools",
        ),
        pytest.param(
            replace(BASE, servers={"files": {}}),
            [Change("server", "tool read is no longer offered by MCP server files", tool="read")],
            id="mcp surface",
        ),
        pytest.param(
            replace(BASE, settings={"temperature": 1}),
            [Change("setting", "request: temperature", "0", "1")],
            id="setting",
        ),
    ],
)
def test_what_the_agent_is_told(after: Trajectory, changes: list[Change]) -> None:
    found = difference(BASE, after)
    assert found.does == ()
    assert list(found.told) == changes


def test_of_a_long_text_only_what_is_around_the_difference_is_shown() -> None:
    before = "a" * 100 + "1" + "b" * 100
    after = "a" * 100 + "22" + "b" * 100
    (change,) = difference(Trajectory(reply=before), Trajectory(reply=after)).changes
    assert (change.before, change.after) == (f"…{'a' * 20}1{'b' * 20}…", f"…{'a' * 20}22{'b' * 20}…")
