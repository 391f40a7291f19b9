"""Changes as text for a terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from flowproof_runner.drivers.tail import clean
from flowproof_runner.report.style import Style
from flowproof_runner.trajectory.change import Change

type Item = tuple[Change, Sequence[str]]
"""A change and remarks on it: the assertions that name it, the flows it is found in."""


def text(items: Sequence[Item], style: Style) -> str:
    """For a terminal; what the agent does stands first."""
    lines: list[str] = []
    for title, part in _parts(items):
        lines.append(style(title, "bold"))
        for change, remarks in part:
            lines.append(f"  {clean(change.what)}" + "".join(f"  {style(f'[{one}]', 'yellow')}" for one in remarks))
            lines += (style(f"    - {clean(line)}", "red") for line in _lines(change.before))
            lines += (style(f"    + {clean(line)}", "green") for line in _lines(change.after))
    return "".join(f"{line}\n" for line in lines)


def markdown(items: Sequence[Item]) -> str:
    """For a pull request."""
    lines: list[str] = []
    for title, part in _parts(items):
        lines += [f"### {title}", ""]
        for change, remarks in part:
            lines.append(f"- {_escaped(change.what)}" + "".join(f" *({_escaped(one)})*" for one in remarks))
            if change.before is not None or change.after is not None:
                rows = [*(f"- {x}" for x in _lines(change.before)), *(f"+ {x}" for x in _lines(change.after))]
                fence = _fence("\n".join(rows))
                lines += ["", *(f"  {row}" for row in (f"{fence}diff", *rows, fence)), ""]
        lines.append("")
    return "\n".join(lines)


def grouped(flows: Mapping[str, Sequence[Item]]) -> list[Item]:
    """The changes of several flows, each once, with the flows it is found in."""
    places: dict[Change, list[str]] = {}
    marks: dict[Change, dict[str, None]] = {}
    for spec, items in flows.items():
        for change, remarks in items:
            if spec not in places.setdefault(change, []):
                places[change].append(spec)
            marks.setdefault(change, {}).update(dict.fromkeys(remarks))
    several = len(flows) > 1
    return [(change, (*marks[change], *(places[change] if several else ()))) for change in places]


def _parts(items: Sequence[Item]) -> Iterator[tuple[str, list[Item]]]:
    does = [item for item in items if item[0].does]
    told = [item for item in items if not item[0].does]
    yield from ((title, part) for title, part in (("does differently", does), ("is told differently", told)) if part)


def _lines(value: str | None) -> list[str]:
    return [] if value is None else value.split("\n")


def _escaped(text: str) -> str:
    return "".join(f"\\{char}" if char in "\\`*_<>[]|" else char for char in text)


def _fence(text: str) -> str:
    """Longer than any run of backticks within."""
    ticks = "```"
    while ticks in text:
        ticks += "`"
    return ticks
