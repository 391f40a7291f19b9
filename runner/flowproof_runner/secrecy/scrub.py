"""Secrets taken out of what an agent printed and of what is said about it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from flowproof_addons.trace.model import JsonValue
from flowproof_addons.trace.spelling import spellings

_SHORTEST = 4
"""A shorter value would be found by chance in half of all texts."""


class Scrubber:
    """Replaces each secret by `${NAME}`, in another spelling (base64, hex, a URL's) by `${NAME:base64-0}`."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        self.secrets = secrets
        """Name to value."""
        self._written = dict[str, str]()
        for name, value in secrets.items():
            for text, spelling in spellings(value).items() if len(value) >= _SHORTEST else ():
                self._written.setdefault(text, f"${{{name}{':' if spelling else ''}{spelling}}}")
        # The longest first, so that a secret inside another leaves nothing of the longer one.
        longest = sorted((text for text in self._written if len(text) >= _SHORTEST), key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest))) if longest else None

    def text(self, text: str) -> str:
        """`text` without the secrets."""
        return self._pattern.sub(lambda found: self._written[found[0]], text) if self._pattern else text

    def value(self, value: JsonValue) -> JsonValue:
        """JSON without the secrets."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(each) for each in value]
        if isinstance(value, dict):
            return {self.text(name): self.value(each) for name, each in value.items()}
        return value

    def file(self, path: Path) -> None:
        """The same in a file, which is rewritten only if it holds one."""
        before = path.read_bytes().decode("utf-8", "surrogateescape")
        after = self.text(before)
        if after != before:
            path.write_bytes(after.encode("utf-8", "surrogateescape"))
