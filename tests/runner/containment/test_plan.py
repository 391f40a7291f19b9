"""From the spec's words to the policy of one run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from flowproof_runner.containment import machine, plan
from flowproof_runner.containment.daemons import Daemon
from flowproof_runner.containment.machine import Machine, read, resolve
from flowproof_runner.containment.order import Order, Program
from flowproof_runner.containment.policy import Policy

HERE = Machine(("192.0.2.53",), ("corp.example",))


def test_what_engages_containment() -> None:
    assert not plan.plan(None).engaged
    assert plan.plan([]).engaged
    assert plan.plan(None, certify=True).engaged
    assert plan.plan(None, writes=True).engaged


def test_names_are_looked_up_once_and_pinned() -> None:
    asked: list[str] = []

    def resolver(name: str) -> tuple[str, ...]:
        asked.append(name)
        return ("198.51.100.7",) if name == "api.example.com" else ()

    wanted = plan.plan(
        ["${HOST}:443", "lost.example.com:1", "10.0.0.0/8"],
        ["api.example.com:443", "lost.example.com:1", "10.0.0.0/8"],
        certify=True,
    )
    policy = wanted.policy(HERE, resolver)
    assert asked == ["api.example.com", "lost.example.com"]
    assert policy.names == {"api.example.com": ("198.51.100.7",), "lost.example.com": ()}
    assert plan.unresolved(policy) == ("lost.example.com:1",)
    assert (policy.certify, policy.nameservers, policy.search) == (True, ("192.0.2.53",), ("corp.example",))
    assert [entry.text for entry in policy.entries] == ["${HOST}:443", "lost.example.com:1", "10.0.0.0/8"]


def test_every_wrong_entry_is_named_at_once_as_the_spec_has_it() -> None:
    with pytest.raises(plan.EntryError) as wrong:
        plan.plan(["${HOST}", "https://x", "ok:1"], ["secret*host", "https://x", "ok:1"], where="a.flow.yaml:4")
    first, second = str(wrong.value).splitlines()
    assert first.startswith("a.flow.yaml:4: '${HOST}': a wildcard")
    assert second.startswith("a.flow.yaml:4: 'https://x': a URL")
    assert "secret" not in str(wrong.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "nameserver 192.0.2.53\nnameserver fe80::1%eth0\nsearch corp.example lab.\n",
            (("192.0.2.53", "fe80::1"), ("corp.example", "lab")),
        ),
        (
            "# nameserver 192.0.2.1\n; x\nnameserver 127.0.0.53 # stub\ndomain corp.example",
            (("127.0.0.53",), ("corp.example",)),
        ),
        ("", (("127.0.0.1",), ())),
        ("nameserver nonsense\nnameserver\noptions edns0\n", (("127.0.0.1",), ())),
    ],
)
def test_the_machines_resolver_is_read_as_the_resolver_reads_it(
    tmp_path_factory: pytest.TempPathFactory, text: str, expected: tuple[tuple[str, ...], tuple[str, ...]]
) -> None:
    file = tmp_path_factory.mktemp("etc") / "resolv.conf"
    file.write_text(text)
    assert read(file) == Machine(*expected)
    assert read(file.with_name("missing")) == Machine()


def test_a_machine_with_musl_is_known_by_its_loader(tmp_path: Path) -> None:
    assert not machine.has_musl(tmp_path) and not machine.has_musl(tmp_path / "missing")
    (tmp_path / "ld-musl-x86_64.so.1").touch()
    assert machine.has_musl(tmp_path)


def test_localhost_has_an_address_and_nonsense_has_none() -> None:
    assert "127.0.0.1" in resolve("localhost")
    assert resolve("x" * 300) == ()


def test_an_order_arrives_as_it_was_given() -> None:
    wanted = plan.plan(["api.example.com:443"], certify=True, writes=True)
    policy = wanted.policy(HERE, lambda _: ("198.51.100.7",))._replace(daemons=(Daemon(1, 2, "/run/docker.sock"),))
    odd = "caf\udce9"  # a byte that is no UTF-8, as Python has it in an environment
    program = Program(("a", odd), {"K": odd}, "/tmp", (3, 4, 4), (b"\0\1", b"\2"))
    order = Order(program, policy, "/run")
    line = order.dump()
    assert line.count(b"\n") == 1 and json.loads(line)
    assert Order.load(line) == order
    assert Order.load(Order(program, Policy(off_host=("127.0.0.2/32",)), "/").dump()).policy.off_host == (
        "127.0.0.2/32",
    )


ELSEWHERE = """
import ctypes, os, socket, sys, sysconfig
sysconfig.get_config_vars()  # read while the name of this platform is still right
sys.modules["fcntl"] = sys.modules["pyseccomp"] = None
sys.platform = "darwin"
for module, names in ((socket, ("AF_NETLINK", "SOCK_CLOEXEC", "SOCK_NONBLOCK")), (os, ("pidfd_open", "O_PATH"))):
    for name in names:
        delattr(module, name)
del ctypes.CDLL
from flowproof_runner.flow import containing
from flowproof_runner.containment import spawner, tier
print(tier.probe())
"""


def test_everything_the_tool_needs_can_be_imported_on_another_system() -> None:
    done = subprocess.run([sys.executable, "-c", ELSEWHERE], capture_output=True, text=True)
    assert done.stdout == "not contained (egress containment is Linux only)\n", done.stderr
