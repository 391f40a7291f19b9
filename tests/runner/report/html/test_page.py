"""What holds for the page as text: no browser needed."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from importlib import resources

import pytest
from tests.runner.report.html import sample

from flowproof_runner.records.story import Story
from flowproof_runner.report import html
from flowproof_runner.report.html import timeline
from flowproof_runner.report.html.markup import el

VOID = {"meta", "link", "br", "hr", "col", "input"}


class Reader(HTMLParser):
    """Elements and text; complains about anything not closed in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"style", "script"} & set(self.open):
            self.text.append(data)

    def values(self, name: str) -> list[str]:
        return [value for _, attributes in self.attributes if (value := attributes.get(name)) is not None]


@pytest.fixture(params=["everything", "attack"])
def page(request: pytest.FixtureRequest) -> str:
    return html.render(*{"everything": sample.everything, "attack": sample.attack}[request.param]())


def test_it_is_well_formed_and_can_be_written(page: str) -> None:
    Reader(page)
    page.encode("utf-8")


def test_it_has_one_script_and_one_style_of_its_own_and_no_address(page: str) -> None:
    read = Reader(page)
    tags = [tag for tag, _ in read.attributes]
    assert tags.count("script") == tags.count("style") == 1
    assert not {"img", "iframe", "object", "embed", "form", "base", "svg:script"} & set(tags)
    assert read.values("src") == []
    assert {href for href in read.values("href") if not href.startswith("#")} == {"data:,"}
    assert not [name for _, attributes in read.attributes for name in attributes if name.startswith("on")]
    assert "url(" not in page and "@import" not in page


def test_every_anchor_leads_somewhere_and_no_id_is_used_twice(page: str) -> None:
    read = Reader(page)
    ids = read.values("id")
    assert len(ids) == len(set(ids))
    assert {href[1:] for href in read.values("href") if href.startswith("#")} <= set(ids)


def test_all_that_is_known_is_said() -> None:
    said = " ".join(" ".join(Reader(html.render(*sample.everything())).text).split())
    for words in (
        "3 of 4 turns",
        "4 tool calls",
        "1,204 in / 88 out",
        "enforced (linux seccomp+landlock)",
        "egress.undeclared",
        "critical",
        "only what the customer confirmed",
        "whatever is cheapest",
        "and 2 more differences",
        "retried 2 times",
        "equal byte for byte",
        "equal under pins: today",
        "arguments as dispatched: not those the model chose",
        "result as the model was told it",
        "result from the spec",
        "refused forbidden by the spec",
        "not asked for by the model",
        "1 side call",
        "today allowed a difference 2 times",
        "session id was never needed: remove it",
        "turn 2: answer 429: once",
        "fault: turn 2: answer 429",
        "api.example.com:443, ${SERVICE_HOST}:443",
        "198.51.100.7:443 · tcp · telemetry.example · 3 times",
        "0.0.0.0:9229 · 127.0.0.1:9229",
        "control sec.travel-01: Bookings need a confirmation",
        "The agent was stopped after leaving the recording, after 0.9 s.",
        "openai.BadRequestError",
        "OPENAI_API_KEY is not set",
        "stepz: unknown key",
    ):
        assert words in said


def test_the_four_observations_of_each_call_are_told_apart() -> None:
    page = html.render(*sample.everything())
    made = re.findall(
        r'<article class="call[^>]*>.*?<code class="tool">(\w+)</code>.*?<ol class="seen"[^>]*>(.*?)</ol>', page
    )
    seen = {tool: re.findall(r'<li class="(\w+)"><b>(\w+)</b>', steps) for tool, steps in made}
    done = {tool: [label for state, label in steps if state == "done"] for tool, steps in seen.items()}
    assert done == {
        "search_flights": ["decided", "dispatched", "returned", "told"],
        "read_policy": ["decided", "told"],
        "create_booking": ["decided", "dispatched", "returned"],
        "delete_booking": ["decided"],
        "audit": ["dispatched", "returned"],
    }


def test_a_flow_whose_timeline_cannot_be_read_says_why() -> None:
    story = Story(sample.failed(), trouble="runs/trace.json:3: is not JSON")
    assert "There is no timeline: runs/trace.json:3: is not JSON" in html.render(sample.run(sample.failed()), [story])


def test_turns_beyond_the_most_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeline, "MOST", 2)
    page = html.render(*sample.everything())
    assert "1 more turn: flowproof show --full" in page
    assert 'id="flow-1-turn-2"' in page and 'id="flow-1-turn-3"' not in page


def test_a_recorded_run_is_called_recorded() -> None:
    flow = sample.passed().model_copy(update={"phase": "record"})
    run = sample.run(flow).model_copy(update={"command": "record"})
    page = html.render(run, [Story(flow)])
    assert str(el("h1", el("span", "✓", aria_hidden="true", cls="sign"), el("span", "Recorded"))) in page


INK = ("text", "muted", "link", "pass", "fail", "error", "skip", "key", "str", "num")
PAPER = ("page", "card", "inset")
PAIRS = [
    *((ink, paper) for ink in INK for paper in PAPER),
    *((verdict, f"{verdict}-back") for verdict in ("pass", "fail", "error", "skip")),
    *(("text", paper) for paper in ("fail-back", "user-back")),
    ("muted", "user-back"),
    ("del", "del-back"),
    ("ins", "ins-back"),
    ("card", "fail"),
    ("fail", "card"),
]


@pytest.mark.parametrize("light", [0, 1], ids=["light", "dark"])
def test_every_ink_can_be_read_on_every_paper(light: int) -> None:
    """4.5 to 1: https://www.w3.org/TR/WCAG22/#contrast-minimum (read 2026-12-02)."""
    css = resources.files(html).joinpath("page.css").read_text()
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", css.split("@media (prefers-color-scheme: dark)")[light]))
    weak = {pair: contrast(colours[pair[0]], colours[pair[1]]) for pair in PAIRS}
    assert {pair: round(ratio, 2) for pair, ratio in weak.items() if ratio < 4.5} == {}


def contrast(one: str, other: str) -> float:
    brighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
