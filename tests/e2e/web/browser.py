"""A headless Chromium over its debugging pipe: no driver, no port, no library.

https://chromedevtools.github.io/devtools-protocol/ (read 2026-12-02); messages are JSON ended by a zero byte on file
descriptors 3 and 4 of the browser.
"""

from __future__ import annotations

import base64
import itertools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def executable() -> str | None:
    """Where a Chromium is on this machine, else None."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Browser:
    """One browser with one page."""

    def __init__(self, program: str, profile: Path) -> None:
        reads, gives = os.pipe()
        takes, writes = os.pipe()
        self.process = subprocess.Popen(
            [sys.executable, "-c", _MOVE, str(reads), str(writes), program, *_FLAGS, f"--user-data-dir={profile}"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(reads, writes),
            env={**os.environ, "HOME": str(profile)},
        )
        os.close(reads)
        os.close(writes)
        self._to, self._from = os.fdopen(gives, "wb", buffering=0), os.fdopen(takes, "rb")
        self._numbers = itertools.count(1)
        self.events: list[dict[str, Any]] = []
        target = self._send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            self._send("Browser.close")
        except (OSError, EOFError):
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._to.close()
        self._from.close()

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Ask the page something; the answer. What happens meanwhile goes to `events`."""
        return self._send(method, session=self._session, **parameters)

    def screen(self, width: int, height: int = 900, *, dark: bool = False) -> None:
        """Be a screen of this size, in this light."""
        phone = width < 600
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)
        feature = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[feature])

    def open(self, url: str) -> None:
        """Go there and wait until the page has loaded."""
        self.events.clear()
        self.send("Page.navigate", url=url)
        self._until("Page.loadEventFired")

    def js(self, expression: str) -> Any:
        """The value of an expression in the page; a promise is awaited. Raises AssertionError if it throws."""
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait_for(self, condition: str) -> None:
        """Wait until an expression is true, as the page changes. Raises AssertionError after 20 s."""
        self.js(_WAIT % condition)

    def picture(self, path: Path, *, whole: bool = True) -> Path:
        """A screenshot."""
        shot = self.send("Page.captureScreenshot", captureBeyondViewport=whole)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(shot["data"]))
        return path

    def complaints(self) -> list[str]:
        """What the browser logged as wrong, and scripts that threw."""
        self.js("0")  # everything that happened before is here now
        logged = [e["params"]["entry"] for e in self.events if e["method"] == "Log.entryAdded"]
        thrown = [
            e["params"]["exceptionDetails"]["text"] for e in self.events if e["method"] == "Runtime.exceptionThrown"
        ]
        return [*(str(entry["text"]) for entry in logged if entry["level"] == "error"), *thrown]

    def requested(self) -> list[str]:
        """Every URL the page asked for."""
        self.js("0")
        return [e["params"]["request"]["url"] for e in self.events if e["method"] == "Network.requestWillBeSent"]

    def _send(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        self._to.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return dict(answer["result"])

    def _until(self, event: str) -> None:
        while not any(known["method"] == event for known in self.events):
            self._read()

    def _read(self) -> Mapping[str, Any]:
        """The next message; an event is kept."""
        data = bytearray()
        while (byte := self._from.read(1)) != b"\0":
            if not byte:
                raise EOFError("the browser is gone")
            data += byte
        message: dict[str, Any] = json.loads(data)
        if "method" in message:
            self.events.append(message)
        return message


_MOVE = """
import os, sys
reads, writes, *argv = sys.argv[1:]
os.dup2(int(reads), 100), os.dup2(int(writes), 101)
os.dup2(100, 3), os.dup2(101, 4)
os.execv(argv[0], argv)
"""
"""Puts the two pipes where Chromium expects them."""

_FLAGS = (
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-sandbox",  # containers have no user namespaces; the pages are our own
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--no-default-browser-check",
    "--hide-scrollbars",
)

_WAIT = """
new Promise((resolve, reject) => {
  const done = () => { try { return Boolean(%s); } catch (error) { return false; } };
  if (done()) { resolve(); return; }
  const end = setTimeout(() => {
    observer.disconnect();
    reject(new Error("not in 20 s: " + document.body.innerText));
  }, 20000);
  const observer = new MutationObserver(() => {
    if (done()) { observer.disconnect(); clearTimeout(end); resolve(); }
  });
  observer.observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
})
"""
