"""mitmproxy logs an addon's exception and forwards the request; ours must end the flow instead."""

from __future__ import annotations

import functools
import inspect
import logging
import traceback
from collections.abc import Awaitable, Callable, Coroutine

from mitmproxy import http

from flowproof_addons.dialects.base import ErrorText
from flowproof_addons.errors import FlowproofError
from flowproof_addons.hooks.crossing import of, refuse

_log = logging.getLogger(__name__)

type Hook[T] = Callable[[T, http.HTTPFlow], Awaitable[None] | None]


def fail_closed[T](hook: Hook[T]) -> Callable[[T, http.HTTPFlow], Coroutine[None, None, None]]:
    """The hook, with any exception turned into an error answer and a problem of the session."""

    @functools.wraps(hook)
    async def wrapped(addon: T, flow: http.HTTPFlow) -> None:
        try:
            result = hook(addon, flow)
            if inspect.isawaitable(result):
                await result
        except FlowproofError as error:
            _end(flow, str(error))  # what a user can mend is no bug of ours, and says what to do
        except Exception as error:  # mitmproxy would log it and forward the request
            where = getattr(hook, "__qualname__", "hook")
            _end(flow, f"flowproof failed inside the boundary: {where}: {type(error).__name__}: {error}")
            _log.debug("%s", traceback.format_exc())

    return wrapped


def _end(flow: http.HTTPFlow, words: str) -> None:
    crossing = of(flow)
    if crossing is not None:
        crossing.settled = True
        crossing.live.problem(words)
    if flow.response is None or flow.response.stream is False:
        refuse(flow, ErrorText(words, "flowproof_internal"), crossing.dialect if crossing else None)
