"""How text is dressed for a terminal, or not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

type Colour = Literal["red", "green", "yellow", "cyan", "bold", "dim"]

_CODES: Mapping[Colour, str] = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


@dataclass(frozen=True, slots=True)
class Style:
    """Colours, or none."""

    colour: bool = False

    def __call__(self, text: str, *colours: Colour) -> str:
        """`text` in these colours; unchanged without colour."""
        if not self.colour or not colours or not text:
            return text
        return f"\x1b[{';'.join(_CODES[colour] for colour in colours)}m{text}\x1b[0m"


def wanted(environment: Mapping[str, str], is_terminal: bool) -> bool:
    """Whether output should be coloured: NO_COLOR wins, then FORCE_COLOR, then whether it is a terminal.

    https://no-color.org: any value that is not empty counts.
    """
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR"):
        return True
    return is_terminal and environment.get("TERM") != "dumb"
