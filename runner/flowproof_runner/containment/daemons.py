"""Sockets of daemons that act for whoever asks: the way out of the tree that no address check sees.

Matched on the real path of the socket, so links to it do not help. The list is in docs/security.md.
"""

from __future__ import annotations

import re
from enum import StrEnum


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
      .*/(docker|docker-cli|podman|containerd|crio|buildkitd|lxd|incus)\.sock(et)?(\.\w+)?
    | /run/(docker|containerd|podman|crio|buildkit|libvirt|snapd|screen)(/.*|[\w.-]*\.socket)
    | /var/(lib|snap)/(lxd|incus)/.*
    | /run/(dbus/.*|systemd/(private|(machine|import|portable)(/.*)?|io\.systemd\.(?!journal).*))
    | /run/user/\d+/(bus|systemd/.*|podman/.*)
    | /(tmp|run)/(tmux-\d+|screens?)/.*
    | @/?(containerd-shim|tmp/dbus-|run/containerd).*
    | .*/S\.dirmngr
"""


def kind_of(name: str) -> Kind:
    """What listens at a real path, or at `@name` for an abstract one."""
    # Compiled at the first use, by re: a supervisor whose tree has no local sockets starts without.
    if re.fullmatch(_RESOLVER, name):
        return Kind.RESOLVER
    return Kind.ESCAPE if re.fullmatch(_ESCAPE, name, re.VERBOSE) else Kind.PLAIN
