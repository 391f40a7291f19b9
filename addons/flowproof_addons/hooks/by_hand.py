"""One session served without the runner: `mitmdump` or `mitmweb` started by hand."""

from __future__ import annotations

import asyncio
import json
import logging

from mitmproxy import ctx

from flowproof_addons.errors import FlowproofError
from flowproof_addons.hooks.sessions import Desk, proxyserver
from flowproof_addons.live.progress import Emit
from flowproof_addons.session import Session
from flowproof_addons.trace.model import JsonValue

_log = logging.getLogger(__name__)


class ByHand:
    """Opens the session of the config file, says where, and says what it found when mitmproxy ends."""

    def __init__(self, desk: Desk, session: Session) -> None:
        self._desk = desk
        self._session = session
        self._opening: asyncio.Task[None] | None = None
        self._emit: Emit = _say

    def running(self) -> None:
        self._session.folder.mkdir(parents=True, exist_ok=True)
        self._opening = asyncio.get_running_loop().create_task(self._open())

    async def done(self) -> None:
        if self._opening is None or not self._opening.done() or self._opening.exception():
            return
        found, lanes = await self._desk.close(self._session.id, proxyserver())
        _log.log(logging.INFO + 5, "flowproof: %s", json.dumps({**found, "lanes": sorted(lanes)}))

    async def _open(self) -> None:
        await proxyserver().servers.update(())  # mitmproxy opens its own listeners before it loads a script
        try:
            opened = await self._desk.open(self._session, proxyserver(), self._emit)
        except FlowproofError as error:
            _log.error("flowproof: %s", error)
            ctx.master.shutdown()
            raise
        _log.log(logging.INFO + 5, "flowproof: %s on http://127.0.0.1:%d", self._session.phase, opened.port())


def _say(event: dict[str, JsonValue]) -> None:
    _log.info("flowproof: %s", json.dumps(event))
