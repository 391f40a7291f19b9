"""Runs one program, contained or not, and prints what came of it as JSON. The order is JSON on stdin.

It stands between a test and containment so that a test can have it run as another user or in another network.
"""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from flowproof_runner.containment import machine, reap
from flowproof_runner.containment.contained import BOOT, Contained
from flowproof_runner.containment.policy import Policy, parse, pin
from flowproof_runner.containment.process import NotContained
from flowproof_runner.drivers.tree import adopt_orphans


def main() -> None:
    order = json.load(sys.stdin)
    refuse(order["refused"])
    folder = Path(order["cwd"])
    adopt_orphans()
    argv = [sys.executable if word == "python" else word for word in order["argv"]]
    env = {**os.environ, **order["env"]}
    victim = Victim(argv)
    with victim, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as given:
        given.write(order["stdin"].encode())
        given.seek(0)
        began = time.monotonic()
        result: dict[str, Any] = {}
        if order["contained"]:
            contained = Contained(policy(order["policy"]), folder / "run", boot=order["boot"] or BOOT)
            try:
                process = contained.spawn(argv, env, folder, given, out, err)
            except NotContained as reason:
                print(json.dumps({"not_contained": str(reason), "survivors": survivors()}))
                return
            result["launch_s"] = time.monotonic() - began
            result["code"] = process.wait(order["timeout_s"])
            result["survivors"] = process.stop(order["grace_s"])
            result["report"] = asdict(process.report())
        else:
            plain = subprocess.run(argv, env=env, cwd=folder, stdin=given, stdout=out, stderr=err, timeout=60)
            result["code"] = plain.returncode
        for name, file in (("out", out), ("err", err)):
            file.seek(0)
            result[name] = file.read().decode(errors="replace")
    print(json.dumps(result))


def survivors() -> int:
    """How many processes a failed launch has left; those that are on their way out have a moment for it."""
    deadline = time.monotonic() + 5
    while not reap.childless() and time.monotonic() < deadline:
        reap.collect()
        time.sleep(0.01)
    left = len(reap.descendants(os.getpid()))
    reap.kill_all(os.getpid())
    return left


def refuse(names: list[str]) -> None:
    """Have the kernel refuse these calls to this process and all it starts, as a container's profile does."""
    if names:
        import pyseccomp

        profile = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
        for name in names:
            profile.add_rule(pyseccomp.ERRNO(errno.EPERM), name)
        profile.load()


class Victim:
    """A process of the same user outside the tree, for programs that are given `VICTIM` for its number."""

    def __init__(self, argv: list[str]) -> None:
        self._argv = argv
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> None:
        if "VICTIM" in self._argv:
            self._process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
            self._argv[self._argv.index("VICTIM")] = str(self._process.pid)

    def __exit__(self, *_: object) -> None:
        if self._process:
            self._process.kill()
            self._process.communicate()


def policy(given: dict[str, Any]) -> Policy:
    pins = given.pop("pins", {})
    entries = tuple(pin(parse(text), lambda name: pins.get(name, ())) for text in given.pop("allow", ()))
    if given.pop("musl", False):
        machine.has_musl = lambda libraries=Path(): True
    if given.pop("daemons_here", False):
        given["daemons"] = machine.daemons()
    rest: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in given.items()}
    return Policy(entries=entries, **rest)


if __name__ == "__main__":
    main()
