"""The directories of two runs, mapped to one another."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowproof_addons.matching.directories import directories


def test_a_directory_is_known_by_the_names_of_both_runs() -> None:
    found = directories("/new/w", "/old/w")
    assert [
        match[0] for match in found.pattern().finditer("at /old/w/a, /new/w. not /new/w2, x/new/w or /new/w.d")
    ] == [
        "/old/w",
        "/new/w",
    ]


@pytest.mark.parametrize(
    ("recorded", "sent", "maps"),
    [
        ("/old/w", "/new/w", True),
        ("/old/w/", "/new/w/", True),
        ("/old/w/", "/new/w", False),
        ("/other", "/new/w", False),
        ("/old/w", "/other", False),
        ("/tmp/f/a", "/tmp/f/a-2", True),
        ("-tmp-f-a", "-tmp-f-a-2", True),
        ("/old/w", "/tmp/f/a-2", False),
        ("-tmp-f-a", "/tmp/f/a-2", False),
    ],
)
def test_each_is_mapped_to_itself_only(recorded: str, sent: str, maps: bool) -> None:
    found = directories("/new/w", "/old/w", "/tmp/f/a-2", "/tmp/f/a")
    assert found.maps(recorded, sent) is maps


def test_a_workspace_moves_with_its_folder() -> None:
    """Else the longer name of the one run would stand for a part of the other's path."""
    found = directories("/tmp/f/a-2/work", "", "/tmp/f/a-2", "/tmp/f/a")
    assert [m[0] for m in found.pattern().finditer("/tmp/f/a-2/work and /tmp/f/a/work")] == ["/tmp/f/a-2", "/tmp/f/a"]


def test_a_name_made_of_a_path_is_found_with_more_behind_it() -> None:
    found = directories("", "", "/tmp/f/a", "/tmp/f/a")
    assert [m[0] for m in found.pattern().finditer("projects/-tmp-f-a-work/memory x-tmp-f-a -tmp-f-ab")] == ["-tmp-f-a"]


def test_without_a_recorded_name_any_text_a_pin_found_may_stand_for_it() -> None:
    assert directories("/new").maps("/whatever", "/new")
    assert not directories("/new", "/old").maps("/whatever", "/new")
    assert directories("/new", "/old").maps("/whatever", "/new", anything=True)


def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    assert directories(str(tmp_path / "link"), "/old").maps("/old", str(tmp_path))


def test_nothing_known_finds_nothing() -> None:
    assert directories("").pattern().search("/ or any") is None
