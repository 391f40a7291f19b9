"""The page: what the run came to, its flows in a table, and each flow in full."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import resources

from flowproof_runner.findings import Verdict
from flowproof_runner.records.story import Story
from flowproof_runner.report import words
from flowproof_runner.report.html.flow import VERDICTS, badge, section
from flowproof_runner.report.html.markup import Child, Markup, el, join
from flowproof_runner.result import FlowResult, RunResult

_ORDER: tuple[Verdict, ...] = ("fail", "error", "pass", "skip")


def render(run: RunResult, stories: Sequence[Story]) -> str:
    """The whole page as text. `stories`: one per flow of the run, in its order."""
    names = [f"flow-{number}" for number in range(1, len(stories) + 1)]
    title = f"{VERDICTS[run.verdict][1]}: flowproof {run.command} {run.started_at}"
    body = el(
        "body",
        el("a", "skip to the flows", href="#flows", cls="skip-link"),
        _header(run),
        el("main", _table(run, names), _flows(stories, names)),
        el("footer", el("p", f"flowproof {run.flowproof} · run {run.id} · ", el("code", run.folder))),
        _script("page.js"),
    )
    return f"<!doctype html>\n{el('html', _head(title), body, lang='en')}\n"


def _head(title: str) -> Markup:
    policy = (
        "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"style-src '{_digest('page.css')}'; script-src '{_digest('page.js')}'"
    )
    return el(
        "head",
        el("meta", charset="utf-8"),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{policy}">'),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        el("link", rel="icon", href="data:,"),
        el("title", title),
        el("style", Markup(_asset("page.css"))),
    )


def _header(run: RunResult) -> Markup:
    sign, word = VERDICTS[run.verdict]
    word = "recorded" if run.command == "record" and run.verdict == "pass" else word
    facts: list[Child] = [
        f"flowproof {run.command}",
        el("time", _moment(run.started_at), datetime=run.started_at),
        words.seconds(run.duration_s),
        f"exit code {run.exit_code}",
    ]
    return el(
        "header",
        el("h1", el("span", sign, aria_hidden="true", cls="sign"), el("span", word.capitalize())),
        el("p", join(" · ", facts)),
        el("ul", _counts(run), cls="counts"),
        _bar(run),
        cls=f"top {run.verdict}",
    )


def _moment(rfc3339: str) -> str:
    return rfc3339.replace("T", " ").removesuffix("Z") + " UTC"


def _counts(run: RunResult) -> Iterator[Markup]:
    for verdict in _ORDER:
        count = run.count(verdict)
        if count:
            yield el("li", el("b", str(count)), f" {VERDICTS[verdict][1]}", cls=verdict)


def _bar(run: RunResult) -> Child:
    """The verdicts as shares of one bar; what it says is in the counts already."""
    total, at = len(run.flows), 0.0
    if not total:
        return None
    parts: list[Markup] = []
    for verdict in _ORDER:
        width = 100 * run.count(verdict) / total
        if width:
            parts.append(el("rect", x=f"{at:.2f}", y=0, width=f"{width:.2f}", height=4, cls=verdict))
        at += width
    return el("svg", parts, viewBox="0 0 100 4", preserveAspectRatio="none", aria_hidden="true", cls="bar")


def _table(run: RunResult, names: Sequence[str]) -> Markup:
    columns = ("Verdict", "Flow", "Turns", "Tool calls", "Tokens", "Time", "Containment")
    rows = (_row(flow, name) for flow, name in zip(run.flows, names, strict=True))
    return el(
        "section",
        el("h2", "Suite"),
        el("ul", (el("li", note) for note in run.notes), cls="notes") if run.notes else None,
        el(
            "table",
            el("caption", words.number(len(run.flows), "flow"), cls="sr"),
            el("thead", el("tr", (el("th", column, scope="col") for column in columns))),
            el("tbody", rows),
        ),
        cls="suite",
    )


def _row(flow: FlowResult, name: str) -> Markup:
    ran = flow.verdict != "skip"
    cells: list[tuple[str, Child]] = [
        ("Turns", words.turns(flow.counts) if ran else None),
        ("Tool calls", str(flow.counts.tool_calls) if ran else None),
        ("Tokens", words.tokens(flow.counts)),
        ("Time", words.seconds(flow.duration_s) if ran else None),
        ("Containment", flow.containment.partition(" (the ")[0] if ran else None),
    ]
    link = el("a", flow.name or flow.spec, href=f"#{name}")
    spec = el("span", flow.spec, cls="spec") if flow.name else None
    return el(
        "tr",
        el("td", badge(flow)),
        el("th", link, spec, scope="row"),
        (el("td", content, data_label=label) if content else el("td", "-", cls="empty") for label, content in cells),
        data_verdict=flow.verdict,
    )


def _flows(stories: Sequence[Story], names: Sequence[str]) -> Markup:
    return el(
        "div",
        el("h2", "Flows", id="flows", tabindex=-1),
        el("p", cls="tools", id="tools", hidden=True),
        [section(story, name) for story, name in zip(stories, names, strict=True)],
    )


def _script(name: str) -> Markup:
    return el("script", Markup(_asset(name)))


@cache
def _asset(name: str) -> str:
    """One of ours: it holds nothing of the run."""
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _digest(name: str) -> str:
    """How the page's own policy knows its script and style: nothing else can run, whatever got into the page."""
    return f"sha256-{base64.b64encode(hashlib.sha256(_asset(name).encode()).digest()).decode()}"
