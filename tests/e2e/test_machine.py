"""A machine that has no room, no rights or no port: one clear message, nothing lost, exit 2, no traceback."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.e2e.scenario import Scenario, chat

from flowproof_runner.result import RunResult

type New = Callable[..., Scenario]

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small disk needs root")


@pytest.fixture
def recorded(once: New, planned: New) -> Scenario:
    flow = once(planned([chat()]))
    return flow


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
    """A filesystem of one and a half megabytes, or another size."""

    def __init__(self, folder: Path, size: str = "1536k") -> None:
        self.folder, self.size = folder, size

    def __enter__(self) -> Path:
        self.folder.mkdir()
        words = ("mount", "-t", "tmpfs", "-o", f"size={self.size}", "tmpfs", str(self.folder))
        done = subprocess.run(words, capture_output=True)
        if done.returncode:
            pytest.skip(f"no small disk to be had: {done.stderr.decode().strip()}")
        return self.folder

    def __exit__(self, *error: object) -> None:
        subprocess.run(["umount", "-l", self.folder], check=True)


def _free(folder: Path) -> int:
    found = os.statvfs(folder)
    return found.f_bavail * found.f_bsize


@as_root
def test_a_full_disk_under_the_runs_is_named(once: New, planned: New, tmp_path: Path) -> None:
    """Wherever it fills up: before mitmproxy has started, or under the run's own trace."""
    flow = once(planned([chat("word " * 20_000)]))
    before = flow.cassette.read_bytes()
    for number, size in enumerate(("16k", "64k", "160k")):
        with small_disk(tmp_path / f"runs-{number}", size) as disk:
            for outcome in (flow.run(FLOWPROOF_RUNS_DIR=str(disk)), flow.record(FLOWPROOF_RUNS_DIR=str(disk))):
                assert outcome.code == 2, outcome.said
                assert "space" in outcome.said
                assert "bug in flowproof" not in outcome.said
            for report in disk.glob("*/report.json"):
                RunResult.model_validate_json(report.read_bytes())
    assert flow.cassette.read_bytes() == before


@pytest.mark.skipif(not shutil.which("prlimit"), reason="limiting the size of files needs prlimit")
@pytest.mark.parametrize("size", [0, 1_000, 40_000])
def test_files_that_may_not_grow_are_named(size: int, once: New, planned: New) -> None:
    flow = once(planned([chat("word " * 20_000)]))
    before = flow.cassette.read_bytes()
    flow.under = ("prlimit", f"--fsize={size}", "--")
    for outcome in (flow.run(), flow.record()):
        assert outcome.code == 2, outcome.said
        assert "too large" in outcome.said
        assert "bug in flowproof" not in outcome.said
    for report in flow.folder.glob(".flowproof/runs/2*/report.json"):
        RunResult.model_validate_json(report.read_bytes())
    assert flow.cassette.read_bytes() == before
    assert list(flow.folder.glob(".flow*.tmp")) == []


def _rights() -> tuple[str, ...]:
    """Who may write anywhere gives that up."""
    if os.geteuid():
        return ()
    if not shutil.which("setpriv"):
        pytest.skip("root may write anywhere, and giving that up needs setpriv")
    return ("setpriv", "--bounding-set=-dac_override,-dac_read_search", "--")


@pytest.fixture
def locked(recorded: Scenario) -> Iterator[Scenario]:
    """A flow in a folder that cannot be written."""
    recorded.under = _rights()
    shutil.rmtree(recorded.folder / ".flowproof", ignore_errors=True)  # of the recording
    recorded.folder.chmod(0o555)
    yield recorded
    recorded.folder.chmod(0o755)


def test_a_folder_that_cannot_be_written_is_named(locked: Scenario) -> None:
    """Nothing has run; with the runs elsewhere a replay needs to write nothing there, and a recording is not kept."""
    for outcome in (locked.run(), locked.record()):
        assert outcome.code == 2
        assert "cannot be written: Permission denied" in outcome.said and "FLOWPROOF_RUNS_DIR" in outcome.said
    before, runs = locked.cassette.read_bytes(), str(locked.folder.parent / "runs")
    assert locked.run(FLOWPROOF_RUNS_DIR=runs).code == 0
    outcome = locked.record(FLOWPROOF_RUNS_DIR=runs)
    assert outcome.code == 2
    assert "flow.trace.json: cannot be written: Permission denied" in outcome.said
    assert "give write access to the folder" in outcome.said
    assert locked.cassette.read_bytes() == before
    assert sorted(p.name for p in locked.folder.iterdir()) == ["flow.flow.yaml", "flow.json", "flow.trace.json"]


@pytest.mark.parametrize("name", ["flow.trace.json", "flow.flow.yaml"])
def test_a_file_that_cannot_be_read_is_named(name: str, recorded: Scenario) -> None:
    recorded.under = _rights()
    (recorded.folder / name).chmod(0)
    outcome = recorded.run()
    assert outcome.code == 2
    assert name in outcome.said and re.search("not readable|Permission denied", outcome.said)


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
