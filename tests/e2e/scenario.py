"""The one vocabulary of the end-to-end tests: a spec, an agent, and the real CLI run on them.

flow = scenario(agent=python("openai_chat.py", "stream"), steps=["assert_tool_call: get_weather"])
assert flow.record().code == 0
assert flow.run().finding_ids == ["model.divergence"]
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import psutil
import yaml

from flowproof_runner.result import FindingResult, FlowResult, RunResult

HERE = Path(__file__).parent
BIN = Path(sys.executable).parent
PATIENCE_S = 120.0
PROMPT = "How is Nairobi?"

_MARK = "FLOWPROOF_E2E"


def python(script: str, *arguments: str) -> list[str]:
    """The command of one of our Python agents."""
    return [sys.executable, str(HERE / "agents" / script), *arguments]


def node(script: str, *arguments: str) -> list[str]:
    """The command of one of our Node agents."""
    return [str(BIN / "node"), str(HERE / "node" / script), *arguments]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one invocation of the CLI came to."""

    workspace: Path
    code: int
    stdout: str
    stderr: str
    report: RunResult | None
    """report.json of this invocation; None when none was written."""
    left: tuple[str, ...]
    """Processes of the invocation that outlived it."""

    @property
    def said(self) -> str:
        """Everything printed."""
        return self.stdout + self.stderr

    @property
    def flow(self) -> FlowResult:
        """The only flow of the report."""
        assert self.report is not None, self.said
        (flow,) = self.report.flows
        return flow

    @property
    def findings(self) -> tuple[FindingResult, ...]:
        """What is wrong with the only flow."""
        return self.flow.findings

    @property
    def ids(self) -> list[str]:
        """Ids of the only flow's findings."""
        return [finding.id for finding in self.findings]

    @property
    def told(self) -> str:
        """Every word of the only flow's findings and notes."""
        parts = [f"{f.id} {f.path}: {f.message}\n{f.detail}" for f in self.findings]
        return "\n".join((*parts, *self.flow.notes))

    @property
    def printed(self) -> str:
        """What the only flow's agent wrote to stdout."""
        return self.output(self.flow)

    def output(self, flow: FlowResult) -> str:
        """What a flow's agent wrote to stdout."""
        assert flow.folder is not None
        return (self.workspace / flow.folder / "stdout.txt").read_text()


@dataclass(slots=True)
class Started:
    """A CLI that is running."""

    process: subprocess.Popen[str]
    mark: str
    folder: Path
    before: frozenset[Path]

    def interrupt(self, number: signal.Signals = signal.SIGINT) -> None:
        """Send a signal to the CLI alone."""
        self.process.send_signal(number)

    def finish(self) -> Outcome:
        """Wait for its end."""
        try:
            stdout, stderr = self.process.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            stdout, stderr = self.process.communicate()
            raise AssertionError(f"flowproof did not end within {PATIENCE_S} s\n{stdout}\n{stderr}") from None
        runs = sorted(_runs(self.folder) - self.before)
        report = runs[-1] / "report.json" if runs else None
        read = RunResult.model_validate_json(report.read_bytes()) if report and report.exists() else None
        left = tuple(_describe(p) for p in alive(self.mark))
        return Outcome(self.folder, self.process.returncode, stdout, stderr, read, left)

    def processes(self) -> list[psutil.Process]:
        """Every living process of this invocation, the CLI included."""
        return alive(self.mark)


@dataclass(slots=True)
class Scenario:
    """A workspace with one spec (or several) and the shell flowproof is started from."""

    folder: Path
    spec: Path
    shell: dict[str, str] = field(default_factory=dict)
    stdin: int = subprocess.DEVNULL
    under: tuple[str, ...] = ()
    """A command that starts flowproof with fewer rights or a limit: `setpriv ...`, `prlimit ...`."""

    @property
    def cassette(self) -> Path:
        """The spec's cassette."""
        return self.spec.with_name(self.spec.name.replace(".flow.yaml", ".trace.json"))

    def record(self, *options: str, **shell: str) -> Outcome:
        """`flowproof record SPEC`."""
        return self.cli("record", str(self.spec.relative_to(self.folder)), *options, **shell)

    def run(self, *options: str, **shell: str) -> Outcome:
        """`flowproof run SPEC`."""
        return self.cli("run", str(self.spec.relative_to(self.folder)), *options, **shell)

    def cli(self, *words: str, **shell: str) -> Outcome:
        """`flowproof …` to its end; nothing it started may outlive it."""
        outcome = self.start(*words, **shell).finish()
        assert outcome.left == (), f"left running: {outcome.left}\n{outcome.said}"
        assert "Traceback" not in outcome.stderr, outcome.stderr
        return outcome

    def start(self, *words: str, **shell: str) -> Started:
        """`flowproof …`, running."""
        mark = secrets.token_hex(8)
        process = subprocess.Popen(
            [*self.under, str(BIN / "flowproof"), *words],
            cwd=self.folder,
            env={**self.shell, **shell, _MARK: mark},
            stdin=self.stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        return Started(process, mark, self.folder, frozenset(_runs(self.folder)))

    def edit(self, old: str, new: str, file: Path | None = None) -> None:
        """Replace text in the spec (or another file); it must be there."""
        path = file or self.spec
        text = path.read_text()
        assert old in text, f"{old!r} is not in {path}:\n{text}"
        path.write_text(text.replace(old, new))

    def change(self, **parts: Any) -> None:
        """Set top-level keys of the spec; `agent` is merged."""
        spec = yaml.safe_load(self.spec.read_text())
        agent = {**spec["agent"], **parts.pop("agent", {})}
        self.spec.write_text(yaml.safe_dump({**spec, **parts, "agent": agent}, sort_keys=False))

    def plan(self, requests: Sequence[Any]) -> None:
        """What a planned agent is to send from now on."""
        self.spec.with_name(self.spec.name.replace(".flow.yaml", ".json")).write_text(json.dumps(requests))

    def copy(self, name: str, **parts: Any) -> Scenario:
        """The same flow under another name, its cassette with it, keys changed as in `change`."""
        other = replace(self, spec=self.spec.with_name(f"{name}.flow.yaml"))
        other.spec.write_text(self.spec.read_text())
        if self.cassette.exists():
            other.cassette.write_bytes(self.cassette.read_bytes())
        other.change(name=name, **parts)
        return other


def everywhere(flow: Scenario, outcome: Outcome, *but: str) -> str:
    """All that was written below the flow's folder and all that was said, but the files of these names."""
    files = [path for path in flow.folder.rglob("*") if path.is_file() and path.name not in but]
    return "\n".join([*(path.read_bytes().decode("utf-8", "replace") for path in files), outcome.said])


def chat(user: Any = PROMPT, **changes: Any) -> dict[str, Any]:
    """A planned Chat Completions request."""
    messages = [{"role": "system", "content": "You are terse."}, {"role": "user", "content": user}]
    body = {"model": "brain-1", "temperature": 0.2, "messages": messages, **changes}
    return {"path": "/v1/chat/completions", "body": {k: v for k, v in body.items() if v is not None}}


def messages(user: Any = PROMPT, **changes: Any) -> dict[str, Any]:
    """A planned Messages request."""
    body = {"model": "brain-1", "max_tokens": 99, "messages": [{"role": "user", "content": user}], **changes}
    return {"path": "/v1/messages", "body": {k: v for k, v in body.items() if v is not None}}


def spec(
    agent: Sequence[str] | Mapping[str, Any],
    steps: Iterable[Any] = ("assert: reply contains Told",),
    prompt: str = PROMPT,
    **parts: Any,
) -> dict[str, Any]:
    """A spec as a dict. `agent` is a command, or the whole agent section; a step is a dict or `key: text`."""
    section = dict(agent) if isinstance(agent, Mapping) else {"command": list(agent)}
    return {
        "name": "e2e",
        "app": "agent",
        "agent": {"timeout": "60s", **section},
        **parts,
        "steps": [{"prompt": prompt}, *(_step(step) for step in steps)],
    }


def _step(step: Any) -> Any:
    if not isinstance(step, str) or ":" not in step:
        return step
    key, _, text = step.partition(":")
    return {key: text.strip()}


def shell(home: Path, **more: str) -> dict[str, str]:
    """The environment flowproof is started with: a path, a home of its own and nothing of this machine's."""
    home.mkdir(exist_ok=True)
    return {
        "PATH": os.pathsep.join([str(BIN), "/usr/local/bin", "/usr/bin", "/bin"]),
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "TMPDIR": os.environ.get("TMPDIR", "/tmp"),
        **more,
    }


def alive(mark: str) -> list[psutil.Process]:
    """The living processes that carry a mark in their environment."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(_MARK) == mark and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


def _describe(process: psutil.Process) -> str:
    try:
        return f"{process.pid} {' '.join(process.cmdline())[:200]}"
    except psutil.Error:
        return str(process.pid)


def _runs(folder: Path) -> set[Path]:
    root = folder / ".flowproof" / "runs"
    return {path for path in root.iterdir() if path.is_dir() and not path.is_symlink()} if root.exists() else set()
