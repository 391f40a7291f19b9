"""A broken spec, cassette or suite: one clear message with its place, nothing started, written or lost, exit 2."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.e2e.scenario import Scenario, chat
from tests.e2e.upstream import Upstream

type New = Callable[..., Scenario]


def deep(text: bytes) -> bytes:
    return b"[" * 100_000 + text + b"]" * 100_000


CASSETTES: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda text: text[: len(text) // 2],
    "empty": lambda text: b"",
    "not an object": lambda text: b"[]",
    "another version": lambda text: text.replace(b'"flowproof": 1', b'"flowproof": 99', 1),
    "no version": lambda text: text.replace(b'"flowproof": 1', b'"flowprof": 1', 1),
    "merge conflict": lambda text: b"<<<<<<< HEAD\n" + text + b"=======\n" + text + b">>>>>>> theirs\n",
    "deep": deep,
    "not utf-8": lambda text: text.replace(b"terse", b"ter\xffse", 1),
    "a member that is none": lambda text: text.replace(b'"turns"', b'"turnz"', 1),
    "a duplicate key": lambda text: text.replace(b'"flowproof": 1,', b'"flowproof": 1, "flowproof": 1,', 1),
    "a turn that is none": lambda text: text.replace(b'"dialect"', b'"dialekt"', 1),
}
SPECS: dict[str, Callable[[str], str]] = {
    "unknown key": lambda text: text + "assertions: []\n",
    "wrong type": lambda text: text.replace("name: e2e", "name: [e2e]"),
    "not yaml": lambda text: text + "\t: [",
    "duplicate key": lambda text: text + "app: agent\n",
    "no prompt": lambda text: text.replace("- prompt:", "- assert:"),
    "unreadable assertion": lambda text: text.replace("reply contains", "reply contians"),
    "deep": lambda text: text + "pins: " + "[" * 10_000,
    "aliases": lambda text: text + "x: &a [1]\ny: &b [*a,*a,*a,*a]\nz: [*b,*b,*b,*b]\n",
    "merge conflict": lambda text: f"<<<<<<< HEAD\n{text}=======\n{text}>>>>>>> theirs\n",
    "binary": lambda text: "\x00\x01" + text,
    "empty": lambda text: "",
}


@pytest.fixture
def recorded(once: New, planned: New) -> Scenario:
    flow = once(planned([chat()]))
    return flow


def test_a_broken_cassette_is_named_and_left_alone(recorded: Scenario, upstream: Upstream) -> None:
    text = recorded.cassette.read_bytes()
    broken = {name.replace(" ", "-"): spoil(text) for name, spoil in CASSETTES.items()}
    for name, spoilt in broken.items():
        assert spoilt != text
        recorded.copy(name).cassette.write_bytes(spoilt)
    recorded.spec.unlink()
    replayed = recorded.cli("run", ".")
    assert replayed.code == 2, replayed.said
    assert replayed.report is not None
    for result in replayed.report.flows:
        file = recorded.folder / f"{result.name}.trace.json"
        assert result.verdict == "error", result
        assert file.name in " ".join(f.message for f in result.findings), result
        assert file.read_bytes() == broken[result.name]


def test_line_ends_and_a_byte_order_mark_do_no_harm(recorded: Scenario) -> None:
    """A checkout on Windows is still a cassette."""
    text = recorded.cassette.read_bytes()
    recorded.cassette.write_bytes(text.replace(b"\n", b"\r\n"))
    assert recorded.run().code == 0
    recorded.spec.write_bytes(b"\xef\xbb\xbf" + recorded.spec.read_bytes().replace(b"\n", b"\r\n"))
    assert recorded.run().code == 0


def test_a_broken_spec_is_named_and_nothing_is_started(recorded: Scenario, upstream: Upstream) -> None:
    text, seen = recorded.spec.read_text(), len(upstream.seen)
    broken = {name.replace(" ", "-"): spoil(text) for name, spoil in SPECS.items()}
    for name, spoilt in broken.items():
        assert spoilt != text
        (recorded.folder / f"{name}.flow.yaml").write_text(spoilt)
    for command in ("check", "run", "record"):
        outcome = recorded.cli(command, *(f"{name}.flow.yaml" for name in broken))
        assert outcome.code == 2, outcome.said
        for name in broken:
            assert f"{name}.flow.yaml" in outcome.said
        if command != "check":
            assert outcome.report is not None
            assert [flow.verdict for flow in outcome.report.flows] == ["error"] * len(broken)
    assert len(upstream.seen) == seen
    assert sorted(path.name for path in recorded.folder.glob("*.trace.json")) == ["flow.trace.json"]


def test_all_mistakes_of_a_spec_are_told_at_once(recorded: Scenario) -> None:
    recorded.edit("app: agent", "app: agnet\ncolour: red\nstrict: perhaps")
    outcome = recorded.cli("check", recorded.spec.name)
    assert outcome.code == 2
    for word in ("agnet", "colour", "strict"):
        assert word in outcome.said
    assert "flow.flow.yaml:2:" in outcome.said


def pipe(path: Path) -> None:
    os.mkfifo(path)


def circle(path: Path) -> None:
    path.symlink_to(path.name)


def nowhere(path: Path) -> None:
    path.symlink_to("gone")


@pytest.mark.parametrize("put", [pipe, circle, nowhere], ids=lambda put: put.__name__)
def test_what_is_no_file_is_named_and_not_waited_for(put: Callable[[Path], None], recorded: Scenario) -> None:
    """In the place of a cassette, a spec, an included result, a suite: a pipe that nobody writes to, a lost link."""
    without, with_result = recorded.copy("cassette"), recorded.copy("with-result")
    with_result.change(tools=[{"name": "t", "result": {"$file": "result.json"}}])
    without.cassette.unlink()
    for path in (without.cassette, recorded.folder / "spec.flow.yaml", recorded.folder / "result.json"):
        put(path)
    outcome = recorded.cli("run", ".", "-k", "not e2e")
    for name in ("cassette.trace.json", "spec.flow.yaml", "result.json"):
        assert name in outcome.said
    assert outcome.code == 2
    assert "bug in flowproof" not in outcome.said
    put(recorded.folder / "suite.yaml")
    outcome = recorded.run()
    assert outcome.code == 2
    assert "suite.yaml: cannot be read: " in outcome.said.replace("suite.yaml:0:0", "suite.yaml")


def test_a_link_that_leads_in_a_circle_is_recorded_over(recorded: Scenario) -> None:
    recorded.cassette.unlink()
    circle(recorded.cassette)
    assert recorded.record().code == 0
    assert recorded.run().code == 0
