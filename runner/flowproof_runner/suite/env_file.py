"""Files of `NAME=VALUE` lines, as `env_from` names them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from flowproof_addons import FlowproofError

_LINE = re.compile(
    r"""\s*(?:export\s+)?(?P<name>[A-Za-z_]\w*)\s*=\s*"""
    r"""(?:'(?P<single>[^']*)'|"(?P<double>(?:[^"\\]|\\.)*)"|(?P<bare>[^'"\s#](?:[^#]|(?<!\s)\#)*?)?)\s*(?:(?<=\s)\#.*)?""",
    re.ASCII,
)
_ESCAPE = re.compile(r"\\(.)")
_NAMED = {"n": "\n", "t": "\t", "r": "\r"}


class EnvFileError(FlowproofError):
    """The file cannot be read, or a line of it is no `NAME=VALUE`."""


def read(path: Path) -> dict[str, str]:
    """The variables of a file; the last line of a name counts.

    Blank lines, `#` comments, `export`, single quotes (as they are) and double quotes (`\\n`, `\\"`) are understood;
    nothing is expanded. Raises EnvFileError, which never quotes a value.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise EnvFileError(f"{path} cannot be read: {reason}") from error
    return dict(_variables(text, path))


def _variables(text: str, path: Path) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        found = _LINE.fullmatch(line)
        if found is None:
            raise EnvFileError(f"{path}:{number}: is no NAME=VALUE line")
        yield found["name"], _value(found)


def _value(found: re.Match[str]) -> str:
    if found["double"] is not None:
        return _ESCAPE.sub(lambda escape: _NAMED.get(escape[1], escape[1]), found["double"])
    return found["single"] or found["bare"] or ""
