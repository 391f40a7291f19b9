"""Sockets of daemons that act for whoever asks: the way out of the tree that no address check sees.

Matched on the real path of the socket, so links to it do not help; those that were there when the run began also on
their files, so that another name for one (a hard link, a bind mount) does not help either. The list is in
docs/security.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Final, NamedTuple


class Kind(StrEnum):
    """What listens there."""

    PLAIN = "plain"
    """Nothing known to act for others."""
    RESOLVER = "resolver"
    """Looks names up. Refused without fuss: programs try it first and then ask our own name server."""
    ESCAPE = "escape"
    """Starts programs, containers or units outside the tree."""


_RESOLVER = r"/run/(nscd/socket|systemd/resolve/.*|avahi-daemon/socket)"
_ESCAPE = r"""
      .*/(docker|docker-cli|podman|containerd|cri-dockerd|crio|buildkitd|lxd|incus)\.sock(et)?(\.\w+)?
    | /run/(docker|containerd|podman|crio|buildkit|libvirt|snapd|screen|tailscale|cups)(/.*|[\w.-]*\.socket)
    | (/run|/var/snap/multipass/common)/multipass_socket
    | /nix/var/nix/daemon-socket/.*
    | /var/(lib|snap)/(lxd|incus)/.*
    | /run/(dbus/.*|systemd/(private|(machine|import|portable)(/.*)?|io\.systemd\.(?!journal).*))
    | /run/user/\d+/(bus|(systemd|podman|libvirt|at-spi|gvfsd|emacs|nvim[^/]*|zellij|wezterm|i3|hypr)/.*)
    | /run/user/\d+/(sway-ipc|vscode-ipc|nvim)[^/]*
    | /(tmp|run)/(tmux-\d+|screens?|emacs\d+|zellij-\d+|nvim[^/]*)/.*
    | /tmp/(vscode-ipc|kitty)[^/]*
    | .*/\.ssh/(?!agent).*
    | @/?(containerd-shim|tmp/dbus-|run/containerd).*
    | .*/S\.dirmngr
"""


def kind_of(name: str) -> Kind:
    """What listens at a real path, or at `@name` for an abstract one."""
    # Compiled at the first use, by re: a supervisor whose tree has no local sockets starts without.
    if re.fullmatch(_RESOLVER, name):
        return Kind.RESOLVER
    return Kind.ESCAPE if re.fullmatch(_ESCAPE, name, re.VERBOSE) else Kind.PLAIN


WELL_KNOWN: Final = (
    "/run/docker.sock",
    "/run/containerd/containerd.sock",
    "/run/podman/podman.sock",
    "/run/snapd.socket",
    "/run/dbus/system_bus_socket",
    "/run/systemd/private",
    "/run/user/{uid}/bus",
    "/run/user/{uid}/systemd/private",
    "/run/user/{uid}/docker.sock",
    "/run/user/{uid}/podman/podman.sock",
)
"""Looked for by name: what is mounted into a container is not among the sockets that its network knows of."""


class Daemon(NamedTuple):
    """A daemon that was there when the run began, by the file of its socket."""

    device: int
    inode: int
    name: str
    """The path it listens at."""


def names(listing: Iterable[str]) -> list[str]:
    """The paths in /proc/net/unix at which such daemons listen."""
    paths = {line.split(None, 7)[7].rstrip("\n") for line in listing if len(line.split(None, 7)) == 8}
    return sorted(path for path in paths if path.startswith("/") and kind_of(path) is not Kind.PLAIN)
