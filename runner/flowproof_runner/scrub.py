"""Secrets taken out of what an agent printed and of what is said about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

_SHORTEST = 4
"""A shorter value would be found by chance in half of all texts."""


@dataclass(frozen=True, slots=True)
class Scrubber:
    """Replaces the value of each secret by `${NAME}`."""

    secrets: Mapping[str, str] = field(repr=False)

    def text(self, text: str) -> str:
        """`text` without the secrets; the longest first, so that one inside another leaves nothing."""
        for name, value in self._known():
            text = text.replace(value, f"${{{name}}}")
        return text

    def file(self, path: Path) -> None:
        """The same in a file, which is rewritten only if it holds one."""
        data = before = path.read_bytes()
        for name, value in self._known():
            data = data.replace(value.encode(), f"${{{name}}}".encode())
        if data != before:
            path.write_bytes(data)

    def _known(self) -> list[tuple[str, str]]:
        usable = [(name, value) for name, value in self.secrets.items() if len(value) >= _SHORTEST]
        return sorted(usable, key=lambda pair: -len(pair[1]))
