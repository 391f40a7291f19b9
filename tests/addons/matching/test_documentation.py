"""The examples of docs/matching.md and docs/cassette-format.md are true."""

import datetime as dt
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from flowproof_addons.matching.divergence import Divergence
from flowproof_addons.matching.matcher import Hit, Matcher
from flowproof_addons.session import Pin
from flowproof_addons.trace.file import load, save
from flowproof_addons.trace.frames import pack, unpack
from flowproof_addons.trace.json_value import parse, same
from flowproof_addons.trace.model import Exchange

type Make[T] = Callable[..., T]

DOCS = Path(__file__).parents[3] / "docs"
MATCHING = (DOCS / "matching.md").read_text()
CASSETTE = (DOCS / "cassette-format.md").read_text()


def blocks(text: str) -> dict[str, str]:
    """The fenced blocks of a text that have a name: ```json recorded."""
    return dict(re.findall(r"^```\w+ (\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))


EXAMPLES = {
    name: blocks(rest) for name, rest in re.findall(r"<!-- example: (.*?) -->(.*?)(?=<!--|\Z)", MATCHING, re.DOTALL)
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_of_matching_ends_as_it_says(
    name: str, matcher: Make[Matcher], recorded: Make[Exchange], match: Make[Hit | Divergence], clock: list[dt.datetime]
) -> None:
    example = EXAMPLES[name]
    clock[:] = [dt.datetime(2026, 12, 2, 10, tzinfo=dt.UTC)]
    pins = [Pin(**pin) for pin in yaml.safe_load(example.get("pins", "[]"))]
    found = match(matcher(recorded(parse(example["recorded"])), pins=pins), parse(example["sent"]))
    if isinstance(found, Hit):
        assert example["equal"] == f"under {found.equality}: {', '.join(found.rules)}\n"
    else:
        assert example["report"] == "\n".join(found.lines()) + "\n"


def test_the_example_cassette_is_one_and_is_laid_out_as_we_lay_it_out(tmp_path: Path) -> None:
    path = tmp_path / "x.trace.json"
    path.write_text(blocks(CASSETTE)["cassette"])
    trace = load(path)
    assert [exchange.dialect for exchange in trace.exchanges] == ["openai-chat", None, "openai-chat"]
    save(path, trace)
    again = load(path)
    assert again == trace


def test_the_example_stream_is_stored_as_shown() -> None:
    stored, stream = parse(blocks(CASSETTE)["frames"]), blocks(CASSETTE)["stream"]
    assert b"".join(unpack(stored)).decode() == stream
    assert same(pack(unpack(stored)), stored)
