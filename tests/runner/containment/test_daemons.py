"""Which local sockets belong to daemons that act for others."""

from __future__ import annotations

import struct

import pytest

from flowproof_runner.containment import landlock
from flowproof_runner.containment.daemons import Kind, kind_of

ESCAPES = """
/run/docker.sock /home/me/.docker/run/docker.sock /run/user/1000/docker.sock /run/podman/podman.sock
/run/user/1000/podman/podman.sock /run/containerd/containerd.sock /run/containerd/containerd.sock.ttrpc
/run/crio/crio.sock /run/buildkit/buildkitd.sock /run/libvirt/libvirt-sock /run/snapd.socket /run/snapd-snap.socket
/run/systemd/private /run/systemd/machine/io.systemd.Machine /run/systemd/io.systemd.ManagedOOM
/run/user/1000/systemd/private /run/user/1000/bus /run/dbus/system_bus_socket /tmp/tmux-1000/default
/run/screen/S-me/1.pts /var/lib/lxd/unix.socket /var/snap/lxd/common/lxd/unix.socket
@/containerd-shim/abc.sock @/tmp/dbus-abc /home/me/.gnupg/S.dirmngr
""".split()
RESOLVERS = "/run/nscd/socket /run/systemd/resolve/io.systemd.Resolve /run/avahi-daemon/socket".split()
PLAIN = """
/tmp/agent.sock /run/systemd/journal/dev-log /run/systemd/journal/stdout /run/user/1000/gnupg/S.gpg-agent
/tmp/.X11-unix/X0 /run/postgresql/.s.PGSQL.5432 /home/me/notdocker.sock.d/x @/tmp/.X11-unix/X0 @agent
/srv/run/dbus/x /run/user/1000/pulse/native /run/dockerish/x
""".split()


@pytest.mark.parametrize(
    ("name", "kind"),
    [*((n, Kind.ESCAPE) for n in ESCAPES), *((n, Kind.RESOLVER) for n in RESOLVERS), *((n, Kind.PLAIN) for n in PLAIN)],
)
def test_a_socket_is_known_by_its_real_path(name: str, kind: Kind) -> None:
    assert kind_of(name) is kind


@pytest.mark.parametrize(
    ("version", "attributes"),
    [
        (1, struct.pack("=Q", 1 << 12)),
        (3, struct.pack("=Q", 1 << 12)),
        (4, struct.pack("=QQ", 0, 3)),
        (5, struct.pack("=QQ", 0, 3)),
        (6, struct.pack("=QQQ", 0, 3, 3)),
        (9, struct.pack("=QQQ", 0, 3, 3)),
    ],
)
def test_a_landlock_domain_asks_for_what_its_version_knows(version: int, attributes: bytes) -> None:
    assert landlock.attributes(version) == attributes
