"""One flow: what is wrong, what was asserted, what happened, and what held the agent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.evidence.model import Diverged
from flowproof_runner.findings import Verdict
from flowproof_runner.records.story import Story
from flowproof_runner.report import words
from flowproof_runner.report.html import values
from flowproof_runner.report.html.difference import difference, plain
from flowproof_runner.report.html.markup import Child, Markup, el, join
from flowproof_runner.report.html.timeline import timeline
from flowproof_runner.result import Again, FindingResult, FlowResult

VERDICTS: dict[Verdict, tuple[str, str]] = {
    "pass": ("✓", "passed"),
    "fail": ("✗", "failed"),
    "error": ("!", "error"),
    "skip": ("-", "skipped"),
}


def badge(flow: FlowResult) -> Markup:
    """The verdict, in a word and a sign."""
    sign, word = VERDICTS[flow.verdict]
    word = "recorded" if flow.phase == "record" and flow.verdict == "pass" else word
    return el("span", el("span", sign, aria_hidden="true"), f" {word}", cls=f"badge {flow.verdict}")


def section(story: Story, name: str) -> Markup:
    """The flow's part of the page; open where something is to be seen to."""
    flow = story.flow
    heading = el("h3", badge(flow), " ", el("span", flow.name or flow.spec, cls="title"), id=f"{name}-title")
    summary = el("summary", heading, el("p", join(" · ", _facts(flow)), cls="facts"))
    return el(
        "section",
        el("details", summary, _body(story, name), open=flow.verdict in ("fail", "error")),
        id=name,
        cls=f"flow {flow.verdict}",
        aria_labelledby=f"{name}-title",
        data_verdict=flow.verdict,
    )


def _facts(flow: FlowResult) -> Iterator[Child]:
    yield el("code", flow.spec)
    yield f"skipped: {flow.reason}" if flow.reason else None
    if flow.verdict == "skip":
        return
    yield words.seconds(flow.duration_s)
    yield words.turns(flow.counts)
    yield words.number(flow.counts.tool_calls, "tool call") if flow.counts.tool_calls else None
    yield f"{tokens} tokens" if (tokens := words.tokens(flow.counts)) else None
    yield flow.containment.partition(" (the ")[0]
    yield f"control {flow.control['id']}: {flow.control['title']}" if flow.control else None


def _body(story: Story, name: str) -> Iterator[Child]:
    flow = story.flow
    yield _part("What is wrong", [_finding(found, story) for found in flow.findings])
    yield _part("Prompt", values.text(flow.prompt) if flow.prompt else None)
    yield _part("Checks", el("ol", _steps(flow), cls="steps") if flow.steps else None)
    yield _part("Contract", el("ol", _expectations(flow), cls="steps") if flow.expectations else None)
    yield _part(
        "Timeline",
        timeline(story.told, name, frozenset(found.detail for found in flow.findings))
        if story.told and (story.told.evidence.events or story.told.trace.exchanges)
        else None,
    )
    yield el("p", f"There is no timeline: {story.trouble}", cls="note bad") if story.trouble else None
    yield _part("Pins", el("ul", _pins(flow)) if flow.pins else None)
    yield _part("Replayed at once", _again(flow.again) if flow.again else None)
    yield _part("Faults", el("ul", (el("li", words.fault(use)) for use in flow.faults)) if flow.faults else None)
    yield _part("Notes", el("ul", (el("li", note) for note in flow.notes)) if flow.notes else None)
    yield _part("Containment", _containment(flow) if flow.agent is not None else None)
    yield _part("Agent", _agent(story) if flow.agent is not None else None)


def _part(heading: str, content: Child) -> Child:
    if content is None or content == []:
        return None
    return el("div", el("h4", heading), content, cls="part")


def _finding(found: FindingResult, story: Story) -> Markup:
    if found.caused_by is not None:
        return el("p", found.message, " ", el("span", found.id, cls="id"), cls="follows")
    first, _, rest = found.message.partition("\n")
    critical = el("span", "critical", cls="badge critical") if found.severity == "critical" else None
    return el(
        "article",
        el("p", el("b", first), critical, " ", el("span", found.id, cls="id")),
        values.text(rest) if rest.strip() else None,
        el("p", "at ", el("code", found.where), cls="muted") if found.where else None,
        _detail(found, story),
        cls="note bad",
    )


def _detail(found: FindingResult, story: Story) -> Markup:
    diverged = story.told.evidence.of(Diverged) if story.told else ()
    report = next((event.report for event in diverged if event.report.get("detail") == found.detail), None)
    return difference(report) if report is not None and found.detail else plain(found.detail)


def _steps(flow: FlowResult) -> Iterator[Markup]:
    for step in flow.steps:
        yield _check(*(("✓", "held", "pass") if step.ok else ("✗", "failed", "fail")), step.text, step.note)


def _expectations(flow: FlowResult) -> Iterator[Markup]:
    for each in flow.expectations:
        if not each.ok:
            yield _check("✗", "failed", "fail", each.text)
        elif each.times:
            yield _check("✓", "held", "pass", each.text, f"put to the test {words.number(each.times, 'time')}")
        else:
            yield _check("·", "not tested", "muted", each.text, "nothing in this run put it to the test")


def _check(sign: str, word: str, kind: str, text: str, note: str = "") -> Markup:
    mark = el("span", el("span", sign, aria_hidden="true"), el("span", word, cls="sr"), cls=kind)
    return el("li", mark, el("div", el("code", text), el("p", note, cls="muted") if note else None), cls="step")


def _pins(flow: FlowResult) -> Iterator[Markup]:
    for pin in flow.pins:
        used = f"allowed a difference {words.number(pin.count, 'time')}" if pin.count else "was never needed: remove it"
        told = "; ".join(part for part in (pin.why, pin.source and f"from {pin.source}") if part)
        yield el("li", el("code", pin.name), f" {used}", el("span", f" ({told})", cls="muted") if told else None)


def _again(again: Again) -> Markup:
    told = "the recording is the same again" if again.steady else "the recording is not the same again"
    rows = (f"{one.where} ({one.kind}): {one.first!r} / {one.second!r}" for one in again.differences)
    return el(
        "div",
        el("p", f"{told}; parallel tools in the other order: {again.order}"),
        el("ul", (el("li", row) for row in rows)) if again.differences else None,
        el("p", "written into the spec" if again.written else "to be put into the spec") if again.pins else None,
        plain("\n".join(again.pins)) if again.pins else None,
    )


def _containment(flow: FlowResult) -> Markup:
    seen = flow.egress or {}
    declared = seen.get("allow_egress")
    allowed = ", ".join(map(str, declared)) or "nothing" if isinstance(declared, list) else None
    rows = [("tier", flow.containment), ("declared egress", allowed), *_attempts(seen)]
    return el("dl", (el("div", el("dt", label), el("dd", told)) for label, told in rows if told), cls="facts-list")


def _attempts(seen: dict[str, JsonValue]) -> Iterator[tuple[str, Child]]:
    if "blocked" not in seen:
        return
    blocked = _rows(seen, "blocked", "destination", "protocol", "name", "count")
    yield "refused", el("ul", blocked) if blocked else "nothing was attempted that is not declared"
    for label, key, names in (
        ("names asked for", "names", ("name", "type")),
        ("narrowed to loopback", "narrowed", ("asked", "bound")),
        ("local sockets", "unix", ("path",)),
    ):
        yield label, el("ul", rows) if (rows := _rows(seen, key, *names)) else None
    faults = seen.get("faults")
    yield "cannot be certified", "; ".join(map(str, faults)) if isinstance(faults, list) else None


def _rows(seen: dict[str, JsonValue], key: str, *names: str) -> list[Markup]:
    entries = seen.get(key)
    found = (entry for entry in (entries if isinstance(entries, list) else []) if isinstance(entry, dict))
    return [el("li", _row(entry, names)) for entry in found]


def _row(entry: dict[str, JsonValue], names: Sequence[str]) -> Markup:
    first, *rest = names
    more = (f"{entry[name]} times" if name == "count" else str(entry[name]) for name in rest if entry.get(name))
    return join(" · ", [el("code", str(entry.get(first, ""))), *more])


def _agent(story: Story) -> Iterator[Child]:
    agent = story.flow.agent
    assert agent is not None
    yield el("p", f"The agent {words.end(agent)}.")
    for label, path, lines in (("stdout", agent.stdout, story.stdout), ("stderr", agent.stderr, story.stderr)):
        if path is None:
            continue
        if not lines:
            yield el("p", f"{label}: nothing", cls="muted")
            continue
        place = el("p", "the end of ", el("code", path), cls="muted")
        block = el("pre", el("code", "\n".join(lines)), cls="output", tabindex=0)
        yield el("details", el("summary", label), place, block, open=agent.tail_of == label)
