"""The agent as a service that already runs: one POST with the prompt, or one for each user turn."""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Mapping, Sequence
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
        """POST `{"prompt": …}`; return when the service has answered, diverged or run out of time.

        In a conversation, POST `{"prompt": …, "conversation": ID, "turn": N}` for each user turn: one has settled when
        it is answered. The id is new for each run, because the service may remember; headers have it as a handle.
        """
        if urllib.parse.urlsplit(self.url).scheme not in ("http", "https"):
            raise DriverError(f"agent.url {self.url!r}: give an http:// or https:// address")
        started = time.monotonic()
        posts: list[_Post] = []
        chat = uuid.uuid4().hex if task.dialogue is not None else ""
        ending = self._converse(task, chat, started, posts)
        answered = [post for post in posts if post.status is not None]
        return DriverResult(
            ending=ending,
            duration_s=time.monotonic() - started,
            stdout=_save(answered, task.folder),
            output=answered[-1].text if answered else None,
            notes=tuple(dict.fromkeys(f"the service answered {post.status}" for post in answered if not post.fine)),
        )

    def _converse(self, task: Task, chat: str, started: float, posts: list[_Post]) -> Ending:
        """One POST after the other, each kept in `posts`; the time the user takes is not the service's."""
        filled = handles(task.prompt, task.addresses, task.folder, {"flowproof.conversation": chat} if chat else None)
        headers = {name: filled.fill(value) for name, value in self.headers.items()}
        deadline = started + task.timeout_s
        text: str | None = task.prompt
        ending: Ending = "exited"
        while text is not None:
            place = {"conversation": chat, "turn": len(posts) + 1} if chat else {}
            post = _Post(self.url, headers, {"prompt": text, **place}, max(deadline - time.monotonic(), 0.01))
            posts.append(post)
            Thread(target=post.send, name="post", daemon=True).start()
            ending = _watch(post, task, deadline)
            if post.failure is not None and not task.diverged.is_set():
                raise _failed(self.url, post.failure, task)
            if ending != "exited" or task.dialogue is None or task.diverged.is_set():
                return ending
            asked = time.monotonic()
            text = task.dialogue.answered(post.text)
            deadline += time.monotonic() - asked
        return ending


def _save(posts: Sequence[_Post], folder: Path) -> Path | None:
    """What the service answered, one answer after the other."""
    if not posts:
        return None
    path = folder / "answer.txt"
    path.write_bytes(b"\n".join(post.body for post in posts))
    path.chmod(0o600)
    return path


class _Post:
    """One request, in a thread of its own so that it can be given up."""

    def __init__(self, url: str, headers: Mapping[str, str], body: Mapping[str, object], timeout_s: float) -> None:
        self._request = urllib.request.Request(
            url,
            data=json.dumps(body, ensure_ascii=False).encode(),
            headers={"content-type": "application/json", **headers},
            method="POST",
        )
        self._timeout_s = timeout_s
        self.body = b""
        self.status: int | None = None
        self.failure: Exception | None = None
        self.ended = Event()

    def send(self) -> None:
        try:
            with _opener(self._request).open(self._request, timeout=self._timeout_s) as response:
                self.status, self.body = response.status, response.read(_MAX_BODY_BYTES)
        except urllib.error.HTTPError as error:
            with error:
                self.status, self.body = error.code, error.read(_MAX_BODY_BYTES)
        except TimeoutError:
            return  # the watcher's clock says so
        except (OSError, http.client.HTTPException, ValueError) as error:
            reason = error.reason if isinstance(error, urllib.error.URLError) else error
            self.failure = reason if isinstance(reason, Exception) else error
        finally:
            self.ended.set()

    @property
    def fine(self) -> bool:
        """True for an answer nobody needs to hear of."""
        return self.status is not None and 200 <= self.status < 300

    @property
    def text(self) -> str:
        """What was answered, for people."""
        return self.body.decode("utf-8", "replace")


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


def _failed(url: str, reason: Exception, task: Task) -> DriverError:
    wiring = f"with its model base URL pointing at {task.addresses.url} (agent.proxy_port)"
    if isinstance(reason, ConnectionRefusedError):
        return DriverError(f"agent.url {url!r}: nothing listens there. Start the service first, {wiring}")
    if isinstance(reason, ConnectionResetError | http.client.HTTPException):
        why = "" if task.arrived() else f"; no model request of it arrived: start it {wiring}"
        return DriverError(f"agent.url {url!r}: the service hung up without an answer{why}")
    return DriverError(f"agent.url {url!r} cannot be reached: {reason}")
