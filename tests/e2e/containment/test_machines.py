"""Machines that restrict more than this one: Yama and the profiles of container engines."""

from __future__ import annotations

import pytest
from tests.e2e.containment.harness import Harness
from tests.e2e.containment.network import PORTS, sink
from tests.e2e.containment.test_attacks import ATTACKS, ELSEWHERE, ON_LOOPBACK, REFUSED

from flowproof_runner.containment.report import enforced

PORT = PORTS + 800
ORPHAN = """
import os, socket, time
if os.fork() == 0:
    parent = os.getpid()
    if os.fork() == 0:
        while os.getppid() == parent:
            time.sleep(0.001)
        number = socket.socket().connect_ex(("192.0.2.1", 7))
        open("part", "w").write(str(number))
        os.rename("part", "found")
    os._exit(0)
os.wait()
while not os.path.exists("found"):
    time.sleep(0.01)
print(open("found").read())
"""
EACCES, EPERM = "13\n", "1\n"


def test_under_yama_the_whole_tree_can_be_looked_into_however_it_was_made(harness: Harness) -> None:
    words = ("python", "attacks.py", ELSEWHERE, "::1", str(PORT), "lo", *ON_LOOPBACK)
    with sink("sockets", ELSEWHERE, PORT, len(ATTACKS)) as counting:
        done = harness.contained(*words, policy={"off_host": [f"{ELSEWHERE}/32"]}, boot=harness.boot("yama"))
        assert counting.seen() == []
    assert done.lines == {name: REFUSED[name] for name in ON_LOOPBACK}
    assert done.report["faults"] == []


@pytest.mark.parametrize(("subreaper", "found"), [(True, EACCES), (False, EPERM)])
def test_under_yama_an_orphan_is_judged_because_it_stays_below_the_supervisor(
    mine: Harness, subreaper: bool, found: str
) -> None:
    """Without the supervisor as its new parent the orphan's call fails all the same, and cannot be certified."""
    done = mine.contained("python", "-c", ORPHAN, boot=mine.boot("yama", subreaper=subreaper))
    assert done.out == found
    assert (done.destinations(), len(done.report["faults"])) == (({"192.0.2.1:7"}, 0) if subreaper else (set(), 1))


@pytest.mark.parametrize("scope", ["2", "3"])
def test_a_stricter_yama_is_the_reason_and_is_named(mine: Harness, scope: str) -> None:
    (mine.folder / "ptrace_scope").write_text(f"{scope}\n")
    boot = (
        "import sys; sys.path.insert(0, sys.argv[1]); from flowproof_runner.containment import supervisor;"
        f" supervisor.YAMA = {str(mine.folder / 'ptrace_scope')!r}; supervisor.main()"
    )
    done = mine.contained("true", boot=boot, refused=["pidfd_getfd"])
    reason = f"pidfd_getfd: Operation not permitted; kernel.yama.ptrace_scope is {scope}, and must be 0 or 1"
    assert done.not_contained == reason


ENGINES_REFUSE = (
    *("add_key", "bpf", "fsmount", "fsopen", "io_uring_setup", "kcmp", "keyctl", "mount", "open_by_handle_at"),
    *("perf_event_open", "pidfd_getfd", "pivot_root", "process_madvise", "request_key", "setns", "umount2", "unshare"),
    "userfaultfd",
)
"""What the default profile of Docker and Podman refuses a container without capabilities."""


def test_the_default_profile_of_container_engines_is_the_reason_and_what_to_do_is_said(harness: Harness) -> None:
    done = harness.contained("true", refused=list(ENGINES_REFUSE))
    remedy = "in a container: --cap-add SYS_PTRACE, or a profile that allows pidfd_getfd"
    assert done.not_contained == f"pidfd_getfd: Operation not permitted; {remedy}"


def test_in_a_container_that_may_trace_containment_holds(harness: Harness) -> None:
    allowed = [name for name in ENGINES_REFUSE if name not in ("kcmp", "pidfd_getfd", "process_madvise")]
    done = harness.contained("python", "-c", ORPHAN, refused=allowed)
    assert (done.out, done.destinations()) == (EACCES, {"192.0.2.1:7"})
    assert enforced(done.report["tier"]) and done.report["faults"] == []
