"""Another machine: a second network namespace behind a virtual cable, where every packet is counted."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.e2e.containment.harness import PROGRAMS

HOST4, HOST6 = "198.51.100.9", "2001:db8:1::9"
OWN4, OWN6 = "198.51.100.1", "2001:db8:1::1"
INTERFACE = "fpnear"
_WORKER = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
PORTS = 20000 + 1000 * int(_WORKER)
"""The first of this test process's own ports, for where two test processes share the machine."""


@dataclass(frozen=True, slots=True)
class Sink:
    """The counting program."""

    process: subprocess.Popen[str]

    def seen(self) -> list[list[Any]]:
        """What has come since the last question: protocol number, destination, port."""
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return list(json.loads(self.process.stdout.readline()))


@contextmanager
def sink(*arguments: str | int, prefix: tuple[str, ...] = ()) -> Iterator[Sink]:
    """Start the counting program and wait until it listens."""
    words = [*prefix, sys.executable, str(PROGRAMS / "sink.py"), *map(str, arguments)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout and process.stdin
        assert process.stdout.readline() == "ready\n"
        try:
            yield Sink(process)
        finally:
            process.stdin.close()
            process.kill()


@contextmanager
def two_machines() -> Iterator[tuple[str, Sink]]:
    """The name of a network namespace to run programs in, and the sink at the other end of its cable.

    Raises OSError where the test may not make namespaces.
    """
    if os.geteuid() != 0 or not shutil.which("ip"):
        raise OSError("only root can make network namespaces, with ip(8)")
    near, far = f"fp-near-{os.getpid()}", f"fp-far-{os.getpid()}"
    try:
        for name in (near, far):
            _ip("netns", "add", name)
            _ip("-n", name, "link", "set", "lo", "up")
        _ip("-n", near, "link", "add", INTERFACE, "type", "veth", "peer", "name", "fpfar", "netns", far)
        for name, link, own, own6 in ((near, INTERFACE, OWN4, OWN6), (far, "fpfar", HOST4, HOST6)):
            _ip("-n", name, "addr", "add", f"{own}/24", "dev", link)
            _ip("-n", name, "addr", "add", f"{own6}/64", "dev", link, "nodad")
            _ip("-n", name, "link", "set", link, "up")
        _ip("-n", near, "route", "add", "default", "via", HOST4)
        _ip("-n", near, "-6", "route", "add", "default", "via", HOST6)
        with sink("packets", "fpfar", prefix=("ip", "netns", "exec", far)) as counting:
            yield near, counting
    finally:
        for name in (near, far):
            subprocess.run(["ip", "netns", "del", name], capture_output=True)


def _ip(*words: str) -> None:
    done = subprocess.run(["ip", *words], capture_output=True, text=True)
    if done.returncode:
        raise OSError(f"ip {' '.join(words)}: {done.stderr.strip()}")
