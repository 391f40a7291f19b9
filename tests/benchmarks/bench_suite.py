"""A suite of flows from shell prompt to verdict, beside the other product called flowproof.

    uv run python tests/benchmarks/bench_suite.py --flows 50 --rounds 3

The other one (PyPI `flowproof` 0.23.28) is installed into a venv of its own under the cache folder, or taken from
`--other PATH`; where neither works, only our own figures are printed. Both replay the same agent (three turns, standard
library only) from cassettes of the same recording.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
PYTHON = (sys.executable, "-I", "-S")
OTHER = "flowproof==0.23.28"
SPEC = """\
name: Booking {number}
app: agent
agent:
  command: {python} -I -S {agent}
steps:
  - prompt: Book me a flight to Nairobi
  - assert_tool_call: search_flights where destination contains NBO
  - assert_tool_call: create_booking where flight.id equals KQ311
  - assert: reply contains booked
"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="A suite of flows, against others.")
    parser.add_argument("--flows", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--other", type=Path, help="the other flowproof's executable")
    options = parser.parse_args()
    ours = BIN / "flowproof"
    other = options.other or installed_other()
    with tempfile.TemporaryDirectory() as folder:
        suites = {"ours": suite(ours, Path(folder, "ours"), options.flows)}
        if other:
            suites["other"] = suite(other, Path(folder, "other"), options.flows)
        report(ours, other, suites, options.flows, options.rounds)


def report(ours: Path, other: Path | None, suites: dict[str, Path], flows: int, rounds: int) -> None:
    """Time the commands in turns, so that what else the machine does meets all of them alike."""
    commands: dict[str, tuple[Sequence[str | Path], Path]] = {
        f"{flows} flows, ours, -j auto": ((ours, "run", ".", "-j", "auto"), suites["ours"]),
        "one flow, ours": ((ours, "run", "flow-0.flow.yaml"), suites["ours"]),
        "flowproof --version": ((ours, "--version"), suites["ours"]),
        "a Python that imports urllib": (
            (sys.executable, "-I", "-S", "-c", "import json, urllib.request"),
            suites["ours"],
        ),
    }
    if other:
        commands[f"{flows} flows, other"] = ((other, "run", "."), suites["other"])
        commands["one flow, other"] = ((other, "run", "flow-0.flow.yaml"), suites["other"])
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, (command, folder) in commands.items():
            taken[name].append(timed(command, folder))
    for name, times in taken.items():
        print(f"{name:32} median {statistics.median(times):6.2f} s   best {min(times):6.2f} s")
    if other:
        for what in (f"{flows} flows", "one flow"):
            pair = [statistics.median(t) for n, t in taken.items() if n.startswith(what)]
            print(f"{what}: ours / other = {pair[0] / pair[1]:.2f}")


def timed(command: Sequence[str | Path], folder: Path) -> float:
    """Wall seconds of one command, which must succeed."""
    started = time.perf_counter()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment())
    seconds = time.perf_counter() - started
    if done.returncode:
        raise SystemExit(f"{command} ended with {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return seconds


def suite(flowproof: Path, folder: Path, flows: int) -> Path:
    """A folder of equal flows, recorded once from the stand-in."""
    folder.mkdir()
    agent = ROOT / "examples" / "agents" / "stdlib_loop.py"
    text = [SPEC.format(number=i, python=sys.executable, agent=agent) for i in range(flows)]
    (folder / "flow-0.flow.yaml").write_text(text[0])
    with standin() as url:
        upstream = {"FLOWPROOF_AGENT_UPSTREAM": url, "FLOWPROOF_AGENT_KEY": "none"}
        record = (flowproof, "record", "flow-0.flow.yaml")
        subprocess.run(record, cwd=folder, check=True, capture_output=True, env={**environment(), **upstream})
    (cassette,) = [path for path in folder.iterdir() if ".trace.json" in path.name and path.is_file()]
    for i in range(1, flows):
        (folder / f"flow-{i}.flow.yaml").write_text(text[i])
        shutil.copy(cassette, folder / cassette.name.replace("flow-0", f"flow-{i}"))
    return folder


@contextmanager
def standin() -> Iterator[str]:
    """The model stand-in of the examples."""
    command = [sys.executable, str(ROOT / "examples" / "standin" / "model.py"), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().split()[-1]
        finally:
            process.terminate()


def environment() -> dict[str, str]:
    """A path and a home; nothing of this machine's."""
    return {"PATH": f"{BIN}{os.pathsep}/usr/bin:/bin", "HOME": os.environ["HOME"], "LANG": "C.UTF-8"}


def installed_other() -> Path | None:
    """The other product, in a venv of its own; None where it cannot be had."""
    venv = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"), "flowproof-benchmarks", OTHER)
    executable = venv / "bin" / "flowproof"
    if not executable.exists():
        make = ["uv", "venv", "--quiet", "--python", "3.12", str(venv)]
        install = ["uv", "pip", "install", "--quiet", "--python", str(venv / "bin" / "python"), OTHER]
        for command in (make, install):
            if subprocess.run(command).returncode:
                print(f"{OTHER} cannot be installed: only our own figures follow")
                return None
    return executable


if __name__ == "__main__":
    main()
