"""Which address an agent used: every variable and handle is given the boundary's URL with its own name in the path."""

from __future__ import annotations

import re
from collections.abc import Mapping

from flowproof_runner.drivers import environment
from flowproof_runner.drivers.base import Addresses

HANDLE = "${flowproof.proxy_url}"
"""How the handles are called, both of them: which one was used shows in the path that follows."""

_MARK = re.compile(r"^/via-(\w+)(?=/|$)")


def handle_url(url: str) -> str:
    """The boundary's URL as the handles give it."""
    return f"{url}/via-handle"


def variables(url: str) -> dict[str, str]:
    """The variables flowproof sets to the boundary's URL, each marked with its name."""
    return {name: f"{url}/via-{name}{value.removeprefix(url)}" for name, value in offered(url).items()}


def read(path: str) -> tuple[str, str]:
    """The name of what led to this request and the path without the mark: `("OPENAI_BASE_URL", "/v1/responses")`."""
    found = _MARK.match(path)
    if found is None:
        return "", path
    return HANDLE if found[1] == "handle" else found[1], path[found.end() :] or "/"


def offered(url: str) -> Mapping[str, str]:
    """The variables that lead an agent to the boundary, as a run sets them."""
    return {name: value for name, value in environment.build({}, Addresses(url), "").items() if value.startswith(url)}
