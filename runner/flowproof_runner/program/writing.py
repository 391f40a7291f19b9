"""Files of the user's that flowproof writes: specs it edits, snapshots, reports."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from flowproof_addons import FlowproofError
from flowproof_addons.trace import atomic
from flowproof_addons.trace.model import JsonValue


class WriteError(FlowproofError):
    """A file cannot be written."""


def write(path: Path, text: str) -> None:
    """Put text in the place of a file, whole or not at all; makes its folder. Raises WriteError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic.write(path, text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise WriteError(
            f"{path}: cannot be written: {error.strerror or error}; nothing was changed: "
            "make room or give write access to the folder"
        ) from error


def write_json(path: Path, value: Mapping[str, JsonValue]) -> None:
    """The same with JSON that people review. Raises WriteError."""
    write(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")
