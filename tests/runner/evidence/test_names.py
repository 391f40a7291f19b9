"""One tool, many names, and no more than those."""

import pytest

from flowproof_runner.evidence.names import aliases, bare, named

FIVE = {"delete", "fs.delete", "fs/delete", "fs__delete", "mcp__fs__delete"}


def test_a_servers_tool_answers_to_five_names() -> None:
    assert aliases("fs", "delete") == FIVE


@pytest.mark.parametrize("written", sorted(FIVE))
def test_however_a_client_qualifies_it_the_bare_name_is_found(written: str) -> None:
    assert bare(written, "fs") == "delete"
    assert named(written, "fs") == FIVE


@pytest.mark.parametrize("written", ["fs", "fs__", "fs.", "mcp__fs__", "db__delete", "fsdelete", "fs_delete"])
def test_a_name_without_the_servers_prefix_is_bare_already(written: str) -> None:
    assert bare(written, "fs") == written


@pytest.mark.parametrize(
    ("written", "names"),
    [
        ("delete", {"delete"}),
        ("fs__delete", {"fs__delete"}),  # might be one word
        ("mcp__fs__delete", FIVE),  # says its server itself
        ("mcp__fs__a__b", {"a__b", "fs.a__b", "fs/a__b", "fs__a__b", "mcp__fs__a__b"}),
        ("mcp__fs", {"mcp__fs"}),
        ("mcp__", {"mcp__"}),
    ],
)
def test_a_tool_of_no_observed_server_is_qualified_only_where_its_name_says_so(written: str, names: set[str]) -> None:
    assert named(written, None) == names
