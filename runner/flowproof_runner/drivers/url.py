"""The agent as a service that already runs: one POST with the prompt."""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread

from flowproof_runner.drivers.base import DriverError, DriverResult, Ending, Task
from flowproof_runner.drivers.handles import handles

_STEP_S = 0.02
_DIVERGED_GRACE_S = 0.3
_MAX_BODY_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Url:
    """Sends a flow's prompt to a service and waits for its answer, whose status judges nothing."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    def run(self, task: Task) -> DriverResult:
        """POST `{"prompt": …}`; return when the service has answered, diverged or run out of time."""
        if urllib.parse.urlsplit(self.url).scheme not in ("http", "https"):
            raise DriverError(f"agent.url {self.url!r}: give an http:// or https:// address")
        filled = handles(task.prompt, task.addresses, task.folder)
        post = _Post(self.url, {name: filled.fill(value) for name, value in self.headers.items()}, task)
        started = time.monotonic()
        Thread(target=post.send, name="post", daemon=True).start()
        ending = _watch(post, task, started + task.timeout_s)
        if post.failure is not None and not task.diverged.is_set():
            raise post.failure
        return DriverResult(
            ending=ending,
            duration_s=time.monotonic() - started,
            stdout=post.save(),
            notes=() if post.status is None else (f"the service answered {post.status}",),
        )


class _Post:
    """One request, in a thread of its own so that it can be given up."""

    def __init__(self, url: str, headers: Mapping[str, str], task: Task) -> None:
        self._request = urllib.request.Request(
            url,
            data=json.dumps({"prompt": task.prompt}, ensure_ascii=False).encode(),
            headers={"content-type": "application/json", **headers},
            method="POST",
        )
        self._url = url
        self._task = task
        self._body = b""
        self.status: int | None = None
        self.failure: DriverError | None = None
        self.ended = Event()

    def send(self) -> None:
        try:
            with _opener(self._request).open(self._request, timeout=self._task.timeout_s) as response:
                self.status, self._body = response.status, response.read(_MAX_BODY_BYTES)
        except urllib.error.HTTPError as error:
            with error:
                self.status, self._body = error.code, error.read(_MAX_BODY_BYTES)
        except TimeoutError:
            return  # the watcher's clock says so
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.failure = _unreachable(self._url, error)
        finally:
            self.ended.set()

    def save(self) -> Path | None:
        if self.status is None:
            return None
        path = self._task.folder / "answer.txt"
        path.write_bytes(self._body)
        path.chmod(0o600)
        return path


def _watch(post: _Post, task: Task, deadline: float) -> Ending:
    while not post.ended.wait(_STEP_S):
        if task.cancelled.is_set():
            return "interrupted"
        if task.diverged.is_set():
            return "exited" if post.ended.wait(_DIVERGED_GRACE_S) else "stopped after divergence"
        if time.monotonic() >= deadline:
            return "timed out"
    return "exited" if post.status is not None or post.failure is not None else "timed out"


def _opener(request: urllib.request.Request) -> urllib.request.OpenerDirector:
    """Honours the shell's proxies, but never sends a loopback request to one."""
    host = urllib.parse.urlsplit(request.full_url).hostname
    direct = host in ("127.0.0.1", "localhost", "::1")
    return urllib.request.build_opener(*([urllib.request.ProxyHandler({})] if direct else []))


def _unreachable(url: str, error: Exception) -> DriverError:
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(reason, ConnectionRefusedError):
        return DriverError(
            f"agent.url {url!r}: nothing listens there. Start the service first, with its model base URL pointing at"
            " http://127.0.0.1:<agent.proxy_port>"
        )
    return DriverError(f"agent.url {url!r} cannot be reached: {reason}")
