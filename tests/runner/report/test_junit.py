# ruff: noqa: E501  (whole rendered reports)
"""The JUnit report, as a CI server reads it."""

from __future__ import annotations

from xml.etree import ElementTree as Xml

from flowproof_runner.report.junit import render
from flowproof_runner.result import RunResult


def test_every_verdict_has_its_element(mixed: RunResult) -> None:
    suite = Xml.fromstring(render(mixed).encode()).find("testsuite")
    assert suite is not None
    told = [[child.tag for child in case if child.tag != "properties"] for case in suite]
    assert told == [[], ["failure", "system-err"], ["error"], ["skipped"]]
    assert suite.attrib == {
        "name": "flowproof run",
        "timestamp": "2026-12-02T06:45:12Z",
        "tests": "4",
        "failures": "1",
        "errors": "1",
        "skipped": "1",
        "time": "1.800",
    }


def test_a_failing_flow_in_full(mixed: RunResult) -> None:
    only = mixed.model_copy(update={"flows": mixed.flows[1:2], "duration_s": 1.0})
    assert (
        render(only)
        == """\
<?xml version="1.0" encoding="utf-8"?>
<testsuites name="flowproof" tests="1" failures="1" errors="0" skipped="0" time="1.000">
  <testsuite name="flowproof run" timestamp="2026-12-02T06:45:12Z" tests="1" failures="1" errors="0" skipped="0" time="1.000">
    <testcase classname="specs/refund.flow.yaml" name="Refund | needs approval" file="specs/refund.flow.yaml" time="0.920">
      <properties>
        <property name="containment" value="not contained" />
        <property name="turns" value="2" />
        <property name="folder" value="runs/02-refund" />
      </properties>
      <failure message="request 2 is not the recorded one: messages[0].content differs" type="model.divergence">request 2 is not the recorded one: messages[0].content differs [model.divergence]
at specs/refund.flow.yaml:9
messages[0].content
  - recorded: 'Be kind.'
  + sent:     'Be &lt;curt&gt;.'
record again if the change is meant

the agent exited with code 1 [agent.exit]
at specs/refund.flow.yaml:4</failure>
      <system-err>the agent exited with code 1 after 0.4 s
Traceback (most recent call last):
openai.BadRequestError: not the recorded one</system-err>
    </testcase>
  </testsuite>
</testsuites>
"""
    )


def test_a_character_that_xml_cannot_hold_is_replaced(mixed: RunResult) -> None:
    flow = mixed.flows[0].model_copy(update={"notes": ("nul \x00, escape \x1b, surrogate \ud800, kept \t \U0001f600",)})
    text = Xml.fromstring(render(mixed.model_copy(update={"flows": (flow,)})).encode()).findtext(".//system-out")
    assert text == "nul \ufffd, escape \ufffd, surrogate \ufffd, kept \t \U0001f600"
