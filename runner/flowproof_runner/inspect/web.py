"""How mitmweb is started: on loopback, behind a random token, with a list that says what each flow was."""

from __future__ import annotations

import socket
import sys
from dataclasses import dataclass

from flowproof_addons import FlowproofError

HOST = "127.0.0.1"
_COLUMNS = ("comment", "status")
"""mitmweb gives every column but the path its share of the width: with few, the comment can be read."""


class PortTaken(FlowproofError):
    """The port asked for is somebody else's."""


@dataclass(frozen=True, slots=True)
class Web:
    """What the user asked for."""

    port: int = 0
    """0: any free one."""
    browser: bool = False
    """Open one."""

    def options(self) -> tuple[str, ...]:
        """mitmweb's settings. Its token is its own: no setting, command line or file holds it.

        Raises PortTaken if the port cannot be had.
        """
        return (
            f"web_host={HOST}",
            f"web_port={_free(self.port)}",
            f"web_open_browser={str(self.browser).lower()}",
            *(f"web_columns={column}" for column in _COLUMNS),
            "store_streamed_bodies=true",  # what was relayed as it arrived is to be seen too
        )


def asked(wanted: bool, port: int) -> Web | None:
    """What `--web` and `--web-port` ask for; a browser is opened for whoever sits at a terminal."""
    return Web(port, browser=sys.stdout.isatty()) if wanted or port else None


def _free(port: int) -> int:
    """The port, or a free one: mitmweb prints the port it was told, so it cannot choose one itself."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise PortTaken(f"port {port} for mitmweb: {error.strerror or error}; free it or choose another") from error
        return int(probe.getsockname()[1])
