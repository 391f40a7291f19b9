"""Which local sockets belong to daemons that act for others."""

from __future__ import annotations

import socket
import struct
from contextlib import closing
from pathlib import Path

import pytest

from flowproof_runner.containment import landlock, machine
from flowproof_runner.containment.daemons import Daemon, Kind, kind_of, names

ESCAPES = """
/run/docker.sock /home/me/.docker/run/docker.sock /run/user/1000/docker.sock /run/podman/podman.sock
/run/user/1000/podman/podman.sock /run/containerd/containerd.sock /run/containerd/containerd.sock.ttrpc
/run/crio/crio.sock /run/buildkit/buildkitd.sock /run/libvirt/libvirt-sock /run/snapd.socket /run/snapd-snap.socket
/run/systemd/private /run/systemd/machine/io.systemd.Machine /run/systemd/io.systemd.ManagedOOM
/run/user/1000/systemd/private /run/user/1000/bus /run/dbus/system_bus_socket /tmp/tmux-1000/default
/run/screen/S-me/1.pts /var/lib/lxd/unix.socket /var/snap/lxd/common/lxd/unix.socket
@/containerd-shim/abc.sock @/tmp/dbus-abc /home/me/.gnupg/S.dirmngr /var/run/cri-dockerd.sock
/run/tailscale/tailscaled.sock /run/cups/cups.sock /nix/var/nix/daemon-socket/socket /run/multipass_socket
/run/user/1000/libvirt/libvirt-sock /run/user/1000/at-spi/bus_0 /run/user/1000/gvfsd/socket-1
/run/user/1000/emacs/server /run/user/1000/nvim.42.0 /run/user/1000/i3/ipc-socket.9 /run/user/1000/sway-ipc.1000.9.sock
/run/user/1000/vscode-ipc-1.sock /tmp/emacs1000/server /tmp/kitty-1 /home/me/.ssh/cm-host:22 /home/me/.ssh/mux/host
""".split()
RESOLVERS = "/run/nscd/socket /run/systemd/resolve/io.systemd.Resolve /run/avahi-daemon/socket".split()
PLAIN = """
/tmp/agent.sock /run/systemd/journal/dev-log /run/systemd/journal/stdout /run/user/1000/gnupg/S.gpg-agent
/tmp/.X11-unix/X0 /run/postgresql/.s.PGSQL.5432 /home/me/notdocker.sock.d/x @/tmp/.X11-unix/X0 @agent
/srv/run/dbus/x /run/user/1000/pulse/native /run/dockerish/x /home/me/.ssh/agent.sock /home/me/.ssh/agent/s.1
""".split()


@pytest.mark.parametrize(
    ("name", "kind"),
    [*((n, Kind.ESCAPE) for n in ESCAPES), *((n, Kind.RESOLVER) for n in RESOLVERS), *((n, Kind.PLAIN) for n in PLAIN)],
)
def test_a_socket_is_known_by_its_real_path(name: str, kind: Kind) -> None:
    assert kind_of(name) is kind


LISTING = """\
Num       RefCount Protocol Flags    Type St Inode Path
0: 00000003 00000000 00000000 0001 03 1993714
0: 00000002 00000000 00010000 0001 01 1993715 /run/user/1000/bus
0: 00000002 00000000 00010000 0001 01 1993716 /tmp/some agent.sock
0: 00000002 00000000 00010000 0001 01 1993717 @/tmp/dbus-abc
0: 00000002 00000000 00010000 0001 01 1993718 /home/my own/docker.sock
"""


def test_the_daemons_of_a_machine_are_found_in_its_list_of_sockets() -> None:
    assert names(LISTING.splitlines(keepends=True)) == ["/home/my own/docker.sock", "/run/user/1000/bus"]


def test_a_daemon_is_known_by_its_file(tmp_path: Path) -> None:
    at = tmp_path / "podman.sock"
    with closing(socket.socket(socket.AF_UNIX)) as listener:
        listener.bind(str(at))
        assert machine.daemons(tmp_path / "missing") == machine.daemons(tmp_path)
        (tmp_path / "listing").write_text(f"0: 2 0 0 1 1 7 {at}\n0: 2 0 0 1 1 8 {tmp_path}/gone/docker.sock\n")
        found = machine.daemons(tmp_path / "listing")
    file = at.stat()
    assert Daemon(file.st_dev, file.st_ino, str(at)) in found
    assert not [one for one in found if "gone" in one.name]


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
