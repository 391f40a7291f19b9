"""A broken spec, cassette or machine: one clear message, nothing written or lost, exit 2, no traceback."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.e2e.scenario import Scenario, chat
from tests.e2e.upstream import Upstream

type New = Callable[..., Scenario]

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small disk needs root")
not_as_root = pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")


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


def test_a_port_that_is_taken_is_named(scenario: New) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        flow = scenario({"url": "http://127.0.0.1:9/run", "proxy_port": port})
        outcome = flow.record()
    assert outcome.code == 2, outcome.said
    assert str(port) in outcome.said
    assert not flow.cassette.exists()


@as_root
def test_a_full_disk_loses_nothing(planned: New, tmp_path: Path) -> None:
    """The cassette that was there stays; the message says what to do."""
    flow = planned([chat()])
    assert flow.record().code == 0
    before = flow.cassette.read_bytes()
    with small_disk(tmp_path / "small") as disk:
        small = Scenario(disk, disk / flow.spec.name, flow.shell)
        for file in (flow.spec, flow.cassette, flow.folder / "flow.json"):
            (disk / file.name).write_bytes(file.read_bytes())
        small.plan([chat("word " * 200_000)])
        runs = str(tmp_path / "runs")
        outcome = small.record(FLOWPROOF_RUNS_DIR=runs)
        assert outcome.code == 2, outcome.said
        assert "space" in outcome.said
        assert small.cassette.read_bytes() == before
        assert sorted(p.name for p in disk.iterdir()) == ["flow.flow.yaml", "flow.json", "flow.trace.json"]

        (disk / "filler").write_bytes(b"x" * _free(disk))
        outcome = small.run()
        assert outcome.code == 2, outcome.said
        assert "space" in outcome.said


class small_disk:
    """A filesystem of one and a half megabytes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __enter__(self) -> Path:
        self.folder.mkdir()
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1536k", "tmpfs", self.folder], capture_output=True)
        if done.returncode:
            pytest.skip(f"no small disk to be had: {done.stderr.decode().strip()}")
        return self.folder

    def __exit__(self, *error: object) -> None:
        subprocess.run(["umount", "-l", self.folder], check=True)


def _free(folder: Path) -> int:
    found = os.statvfs(folder)
    return found.f_bavail * found.f_bsize


@pytest.fixture
def locked(recorded: Scenario) -> Iterator[Scenario]:
    recorded.folder.chmod(0o555)
    yield recorded
    recorded.folder.chmod(0o755)


@not_as_root
def test_a_folder_that_cannot_be_written_is_named(locked: Scenario) -> None:
    outcome = locked.run()
    assert outcome.code == 2
    assert "cannot be written" in outcome.said


def test_a_runs_folder_that_is_a_file_is_named(recorded: Scenario, tmp_path: Path) -> None:
    """An unwritable folder, also for root."""
    (tmp_path / "file").write_text("")
    outcome = recorded.run(FLOWPROOF_RUNS_DIR=str(tmp_path / "file" / "runs"))
    assert outcome.code == 2
    assert str(tmp_path / "file") in outcome.said


@pytest.mark.parametrize(
    "words", [["run", "nowhere.flow.yaml"], ["run", "."], ["run", "flow.json"], ["record"], ["nonsense"]]
)
def test_wrong_usage_is_exit_2(words: list[str], planned: New) -> None:
    flow = planned([chat()])
    flow.spec.unlink()
    outcome = flow.cli(*words)
    assert outcome.code == 2, outcome.said
    assert outcome.stderr
