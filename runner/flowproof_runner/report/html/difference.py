"""A divergence as people compare: what was recorded over what was sent, the differing part marked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.report.html.markup import Child, Markup, el

_SIDES = (("recorded", "recorded", "del"), ("sent", "sent", "ins"))


def difference(report: Mapping[str, JsonValue]) -> Markup:
    """The report of `matching.divergence` below its headline; one of another form is shown as its text."""
    found = [item for item in _list(report.get("differences")) if isinstance(item, dict)]
    envelope = [str(line) for line in (*_list(report.get("client")), *_list(report.get("envelope")))]
    if not found and not envelope:
        return plain(str(report.get("detail") or ""))
    return el(
        "div",
        el("p", "compared with ", el("b", str(report.get("nearest_name"))), cls="muted")
        if report.get("nearest_name")
        else None,
        el("ul", (el("li", line) for line in envelope), cls="envelope") if envelope else None,
        [_one(item) for item in found],
        el("p", f"and {report['more']} more differences", cls="muted") if report.get("more") else None,
        _notes(str(report.get("detail") or "")),
        _pin(report),
        cls="difference",
    )


def plain(detail: str) -> Markup:
    """A finding's detail, line by line; `-` and `+` lines as what was expected and what came."""
    return el("pre", _lines(detail), cls="detail") if detail.strip() else Markup()


def _lines(detail: str) -> Iterator[Child]:
    for number, line in enumerate(detail.strip("\n").split("\n")):
        bare = line.lstrip()
        tag = {"- ": "del", "+ ": "ins"}.get(bare[:2])
        yield "\n" if number else None
        yield el(tag, line) if tag else line


def _one(item: Mapping[str, JsonValue]) -> Markup:
    sides = (_side(item, *names) for names in _SIDES)
    return el(
        "figure",
        el("figcaption", el("code", str(item.get("path") or "the body")), " ", el("span", str(item.get("kind") or ""))),
        el("dl", sides),
    )


def _side(item: Mapping[str, JsonValue], key: str, label: str, tag: str) -> Child:
    match item.get(key):
        case [str(text), int(start), int(end)]:
            marked: Child = [text[:start], el(tag, text[start:end]), text[end:]] if start < end else text
            return el("div", el("dt", label), el("dd", marked), cls=key)
        case _:
            return el("div", el("dt", label), el("dd", "nothing", cls="muted"), cls=key)


def _notes(detail: str) -> Child:
    notes = [line.strip().removeprefix("note: ") for line in detail.split("\n") if line.strip().startswith("note: ")]
    return el("ul", (el("li", note) for note in notes), cls="hints") if notes else None


def _pin(report: Mapping[str, JsonValue]) -> Child:
    lines = [str(line) for line in _list(report.get("pin"))]
    if not lines:
        return None
    return [
        el("p", "If this may differ from run to run, pin it in the spec:", cls="muted"),
        el("pre", "\n".join(lines), cls="detail"),
    ]


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []
