"""The addons in their order, and the one option that tells them what to do."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path

import pydantic
from mitmproxy import ctx, exceptions
from mitmproxy.addonmanager import Loader

from flowproof_addons.dialects.registry import default
from flowproof_addons.hooks import fence, index
from flowproof_addons.hooks.by_hand import ByHand
from flowproof_addons.hooks.control import Control
from flowproof_addons.hooks.failing import Failing
from flowproof_addons.hooks.garbage import Garbage
from flowproof_addons.hooks.gate import Gate
from flowproof_addons.hooks.mcp import McpLanes
from flowproof_addons.hooks.model import Model
from flowproof_addons.hooks.sessions import Desk, proxyserver
from flowproof_addons.hooks.sockets import Sockets
from flowproof_addons.hooks.substitute import Substitute
from flowproof_addons.hooks.tracer import Tracer
from flowproof_addons.hooks.view import Annotator
from flowproof_addons.session import Part, Session

_FORCED: dict[str, object] = {
    "server": False,  # no listener but the sessions' own
    "connection_strategy": "lazy",  # eager dials the upstream before a request is read
    "keep_host_header": True,  # the gate must see the Host the client sent
    "onboarding": False,
    "stream_large_bodies": None,  # would forward a request before its hook
    "allow_hosts": [],
    "tcp_timeout": 86400,  # a thinking model may be silent for long
    "http2": False,
}


class Config(Part):
    """The file of `flowproof_config`: the runner's control socket, or one session to serve by hand."""

    control_fd: int | None = None
    session: Session | None = None


class Suite:
    """Reads the option, then lets the addons in."""

    def __init__(self) -> None:
        self._desk = desk = Desk(default(), os.environ)
        self.addons: list[object] = [
            Gate(desk.models, default(), desk.pacers),
            Sockets(desk.models, default(), desk.walls),
            McpLanes(desk.lanes),
            Substitute(),
            Failing(desk.pacers, proxyserver),
            Model(),
            Tracer(),
            Annotator(default(), desk.server),
            Garbage(),
        ]
        """The hooks, in the order a request meets them. Made once: mitmproxy asks for them at every kind of event."""
        self._ends: Control | ByHand | None = None

    def load(self, loader: Loader) -> None:
        loader.add_option(
            "flowproof_config", str, "", "JSON file that says what flowproof serves (see docs/addons.md)."
        )
        self._lower = fence.raise_fence(self._desk.permits)
        ctx.options.update(**_FORCED)
        if certificates := os.environ.get("SSL_CERT_FILE"):
            ctx.options.update(ssl_verify_upstream_trusted_ca=certificates)
        index.install(ctx.master)

    def configure(self, updated: set[str]) -> None:
        changed = sorted(name for name in updated & _FORCED.keys() if getattr(ctx.options, name) != _FORCED[name])
        if changed:
            raise exceptions.OptionsError(f"flowproof needs {changed[0]}={_FORCED[changed[0]]!r}; do not set it")
        if "flowproof_config" in updated and self._ends is None and ctx.options.flowproof_config:
            config = read(Path(ctx.options.flowproof_config))
            if config.control_fd is not None:
                self._ends = Control(self._desk, config.control_fd)
            elif config.session is not None:
                self._ends = ByHand(self._desk, config.session)

    def running(self) -> None:
        if self._ends is None:
            logging.error("flowproof: nothing to serve; add --set flowproof_config=FILE")
            ctx.master.shutdown()
            return
        self._ends.running()

    async def done(self) -> None:
        if self._ends is not None:
            await self._ends.done()
        self._lower()


def read(path: Path) -> Config:
    """The config file. Raises OptionsError, which ends mitmproxy with the message, if it cannot be used."""
    try:
        return Config.model_validate(json.loads(path.read_bytes()))
    except (OSError, ValueError, pydantic.ValidationError) as error:
        raise exceptions.OptionsError(f"flowproof_config={path}: {error}") from error


addons = [Suite()]
