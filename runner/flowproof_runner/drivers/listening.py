"""An agent's stdin in a conversation: user turns as lines, and its end when the user has no more to say."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from types import TracebackType
from typing import Literal, Self

type Form = Literal["later", "all", "text"]
"""How user turns come on stdin; see `spec.agent.Stdin`."""


@dataclass(slots=True)
class Listening:
    """A pipe whose reading end is the agent's stdin. Writing never waits for the agent."""

    form: Form
    reading: int = -1
    """The agent's end, open until it has been started."""
    _writing: int = -1
    _left: bytearray = field(default_factory=bytearray)
    _last: bool = False

    def __enter__(self) -> Self:
        self.reading, self._writing = os.pipe()
        os.set_blocking(self._writing, False)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.started()
        self._close()

    def started(self) -> None:
        """The agent has its end: ours of it would keep it from ever being deaf."""
        if self.reading >= 0:
            os.close(self.reading)
            self.reading = -1

    def say(self, text: str, user_turn: int) -> None:
        """Put a user turn on the line."""
        if self.form == "text":
            self._left += text.rstrip("\n").encode() + b"\n"
        else:
            line = {"type": "user", "text": text, "turn": user_turn}
            self._left += json.dumps(line, ensure_ascii=False).encode() + b"\n"
        self.flush()

    def end(self) -> None:
        """Close the line once everything on it has been read into the pipe."""
        self._last = True
        self.flush()

    def flush(self) -> None:
        """Write as much as the pipe takes."""
        try:
            while self._left and self._writing >= 0:
                del self._left[: os.write(self._writing, self._left)]
        except BlockingIOError:
            return
        except BrokenPipeError:  # the agent has closed its stdin: that it does not answer will be seen
            self._last = True
        if self._last:
            self._close()

    def _close(self) -> None:
        if self._writing >= 0:
            os.close(self._writing)
            self._writing = -1
