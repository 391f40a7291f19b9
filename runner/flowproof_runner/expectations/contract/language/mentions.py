"""The tools a contract names where only a tool can stand, read before its expressions are."""

from __future__ import annotations

from collections.abc import Iterable

from flowproof_runner.expectations.contract.language.forms import (
    ArgumentsForm,
    CallsForm,
    ConfirmationForm,
    EachForm,
    Expect,
    PrecedenceForm,
    SequenceForm,
)
from flowproof_runner.expectations.contract.language.scanner import Scanner


def mentioned(expect: Expect) -> Iterable[str]:
    """Tools that the contract names where only a tool can stand."""
    for section in ("calls", "order", "args", "confirm"):
        for form in getattr(expect, section):
            yield from _tools_of(form, section)
    for each in expect.each:
        for inner in each.expect:
            yield from _tools_of(inner, "calls")


def _tools_of(form: object, section: str) -> Iterable[str]:
    if isinstance(form, str):
        return _leading_tools(form, section)
    match form:
        case CallsForm(calls=tools) | SequenceForm(order=tools):
            return tools
        case PrecedenceForm(before=before, after=after):
            return (before, after)
        case ArgumentsForm(tool=tool) | ConfirmationForm(tool=tool):
            return (tool,)
        case EachForm(expect=inner):
            return tuple(tool for part in inner for tool in _tools_of(part, "calls"))
        case _:
            return ()


_LEADING = frozenset(
    {"at", "least", "most", "exactly", "of", "call", "calls", "first", "every", "once", "twice", "times", "and"}
)
_ENDING = frozenset("never where when required as distinct needs per at exactly once twice requested".split())


def _leading_tools(text: str, section: str) -> Iterable[str]:
    """The tool names of a prose line, read before names are known: words up to the first keyword."""
    scan = Scanner(text)
    while (word := scan.word()) and (word in _LEADING or word.isdecimal()):
        scan.take_word()
    tools: list[str] = []
    while not scan.done():
        word = scan.word()
        if word in _ENDING:
            break
        name = scan.quoted() or scan.take_word()
        if not name:
            break
        if not (section == "order" and name in ("before", "then", "every")):
            tools.append(name)
        scan.take_sign(",")
    return tools
