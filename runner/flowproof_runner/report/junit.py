"""JUnit XML, as CI servers read it.

The dialect of https://github.com/testmoapp/junitxml (read 2026-12-02): failure = a check failed, error = no check was
possible.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree as Xml

from flowproof_runner.report import words
from flowproof_runner.result import FindingResult, FlowResult, RunResult

# XML 1.0 has no way to write these, not even as references (https://www.w3.org/TR/xml/#charsets).
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(run: RunResult) -> str:
    """The whole invocation as one suite."""
    counts = {
        "tests": str(len(run.flows)),
        "failures": str(run.count("fail")),
        "errors": str(run.count("error")),
        "skipped": str(run.count("skip")),
        "time": _time(run.duration_s),
    }
    root = Xml.Element("testsuites", {"name": "flowproof", **counts})
    suite = Xml.SubElement(
        root, "testsuite", {"name": f"flowproof {run.command}", "timestamp": run.started_at, **counts}
    )
    for flow in run.flows:
        suite.append(_case(flow))
    Xml.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + Xml.tostring(root, encoding="unicode") + "\n"


def _case(flow: FlowResult) -> Xml.Element:
    case = Xml.Element(
        "testcase",
        {
            "classname": _text(flow.spec),
            "name": _text(flow.name or flow.spec),
            "file": _text(flow.spec),
            "time": _time(flow.duration_s),
        },
    )
    _properties(case, flow)
    if flow.verdict == "skip":
        Xml.SubElement(case, "skipped", {"message": _text(flow.reason)})
    elif flow.verdict != "pass":
        _failure(case, flow)
    _output(case, flow)
    return case


def _properties(case: Xml.Element, flow: FlowResult) -> None:
    values = {
        "containment": flow.containment,
        "turns": str(flow.counts.turns),
        **{f"pin {pin.name}": f"{pin.count} {pin.why}".strip() for pin in flow.pins},
        **({"cassette": flow.cassette} if flow.cassette else {}),
        **({"steady": str(flow.again.steady), "parallel order": flow.again.order} if flow.again else {}),
        **({"folder": flow.folder} if flow.folder else {}),
    }
    properties = Xml.SubElement(case, "properties")
    for name, value in values.items():
        Xml.SubElement(properties, "property", {"name": _text(name), "value": _text(value)})


def _failure(case: Xml.Element, flow: FlowResult) -> None:
    first = flow.findings[0]
    tag = "error" if flow.verdict == "error" else "failure"
    element = Xml.SubElement(case, tag, {"message": _text(first.message), "type": _text(first.id)})
    element.text = _text("\n\n".join(_finding(found) for found in flow.findings))


def _finding(found: FindingResult) -> str:
    lines = [f"{found.message} [{found.id}]", f"at {found.where}" if found.where else "", found.detail]
    return "\n".join(line for line in lines if line)


def _output(case: Xml.Element, flow: FlowResult) -> None:
    if flow.notes:
        Xml.SubElement(case, "system-out").text = _text("\n".join(flow.notes))
    if flow.agent is not None and flow.agent.tail:
        told = [f"the agent {words.end(flow.agent)}", *flow.agent.tail]
        Xml.SubElement(case, "system-err").text = _text("\n".join(told))


def _time(duration_s: float) -> str:
    return f"{duration_s:.3f}"


def _text(value: str) -> str:
    return _FORBIDDEN.sub("\ufffd", value)
