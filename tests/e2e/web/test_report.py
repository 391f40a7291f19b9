"""The HTML report in a real browser: wide and narrow, light and dark, with scripts and without, and under attack."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from tests.e2e.web.browser import Browser
from tests.e2e.web.conftest import Picture
from tests.runner.report.html import sample

from flowproof_runner.report import html

PHONE, TABLET, DESK = 360, 768, 1280


@pytest.fixture
def page(tmp_path: Path) -> str:
    return written(tmp_path, *sample.everything())


@pytest.fixture
def attacked(tmp_path: Path) -> str:
    return written(tmp_path, *sample.attack())


def written(folder: Path, *what: object) -> str:
    path = folder / "report.html"
    path.write_text(html.render(*what), encoding="utf-8")  # type: ignore[arg-type]
    return path.as_uri()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [PHONE, TABLET, DESK])
def test_nothing_is_wider_than_the_screen(
    browser: Browser, page: str, picture: Picture, width: int, dark: bool
) -> None:
    browser.screen(width, dark=dark)
    browser.open(page)
    browser.js("document.querySelectorAll('details').forEach(d => d.open = true)")
    browser.picture(picture(f"{width}-{'dark' if dark else 'light'}"))
    assert browser.js("document.documentElement.scrollWidth") <= width
    assert browser.complaints() == []


def test_the_dark_page_is_dark(browser: Browser, page: str) -> None:
    browser.screen(DESK, dark=True)
    browser.open(page)
    assert browser.js("getComputedStyle(document.body).backgroundColor") == "rgb(16, 19, 23)"


def test_it_asks_for_nothing_but_itself(browser: Browser, page: str) -> None:
    browser.open(page)
    assert {url for url in browser.requested() if not url.startswith("data:")} == {page}


def test_flows_that_failed_are_open_and_the_others_are_not(browser: Browser, page: str) -> None:
    browser.open(page)
    opened = "[...document.querySelectorAll('section.flow')].map(f => f.firstElementChild.open)"
    assert browser.js(opened) == [True, False, True, False]


def test_a_link_opens_what_it_leads_to(browser: Browser, page: str) -> None:
    browser.open(page)
    browser.js("document.querySelector('a[href=\"#flow-2\"]').click()")
    browser.wait_for("document.querySelector('#flow-2 > details').open")


def test_only_what_failed_can_be_shown(browser: Browser, page: str) -> None:
    browser.open(page)
    browser.js("[...document.querySelectorAll('button')].find(b => b.textContent === 'only what failed').click()")
    shown = "[...document.querySelectorAll('section.flow')].filter(f => f.offsetParent).map(f => f.id)"
    assert browser.js(shown) == ["flow-1", "flow-3"]


def test_without_scripts_everything_is_there(browser: Browser, page: str, picture: Picture) -> None:
    browser.send("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(page)
        browser.picture(picture("no-script"), whole=False)
        tree = browser.send("Accessibility.getFullAXTree")["nodes"]
    finally:
        browser.send("Emulation.setScriptExecutionDisabled", value=False)
    names = {node["name"]["value"] for node in tree if node.get("name", {}).get("value")}
    assert "Booking assistant books a flight and mails the receipt" in names
    assert not {"open all", "close all", "only what failed"} & names


def test_hostile_texts_are_only_shown(browser: Browser, attacked: str, picture: Picture) -> None:
    browser.open(attacked)
    browser.js("document.querySelectorAll('details').forEach(d => d.open = true)")
    browser.picture(picture("attacked"))
    assert browser.complaints() == []
    assert browser.js("document.querySelectorAll('script').length") == 1
    assert browser.js("document.querySelectorAll('img, iframe, object, form').length") == 0
    assert browser.js("document.documentElement.scrollWidth") <= DESK


def test_the_pages_own_policy_stops_what_would_get_through(browser: Browser, page: str, tmp_path: Path) -> None:
    """If escaping failed one day, a script in the page would still not run."""
    whole = Path(page.removeprefix("file://"))
    hole = "<script>document.title = 'owned'</script><b onclick=\"document.title = 'owned'\" id=hole>x</b>"
    whole.write_text(whole.read_text(encoding="utf-8").replace("<main>", f"<main>{hole}"), encoding="utf-8")
    browser.open(page)
    browser.js("document.getElementById('hole').click()")
    assert browser.js("document.title").startswith("failed: flowproof run")


def test_headings_and_landmarks_are_what_readers_expect(browser: Browser, page: str) -> None:
    browser.open(page)
    assert browser.js("document.documentElement.lang") == "en"
    assert browser.js("['header', 'main', 'footer'].map(t => document.querySelectorAll('body > ' + t).length)") == [
        1,
        1,
        1,
    ]
    levels = browser.js("[...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map(h => Number(h.tagName[1]))")
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_long_output_begins_at_its_end(browser: Browser, tmp_path: Path) -> None:
    run, (first, *others) = sample.everything()
    lines = (*(f"line {number}" for number in range(150)), "the last words")
    browser.open(written(tmp_path, run, [replace(first, stderr=lines), *others]))
    last = "document.querySelector('#flow-1 .part details[open] .output')"
    assert browser.js(f"{last}.scrollHeight > {last}.clientHeight")
    bottom = f"{last}.getBoundingClientRect().bottom - {last}.firstChild.getBoundingClientRect().bottom"
    assert 0 <= browser.js(bottom) < 20
