"""The `${flowproof.*}` handles a spec may use in command words and environment values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from flowproof_runner.drivers.base import Addresses

_HANDLE = re.compile(r"(\$?)\$\{(flowproof\.[^}]*)\}")


@dataclass(frozen=True, slots=True)
class Handles:
    """The handles of one run and what they stand for."""

    values: Mapping[str, str]

    def fill(self, text: str) -> str:
        """`text` with every known handle replaced once; an unknown one stays as it is, `$${` becomes `${`.

        A value is never looked at again, so a prompt that holds `${flowproof.…}` is delivered as written.
        """
        return _HANDLE.sub(self._value, text)

    def unknown(self, texts: Iterable[str]) -> tuple[str, ...]:
        """The handles in `texts` that nothing stands for, in order, each once."""
        found = (match[2] for text in texts for match in _HANDLE.finditer(text) if not match[1])
        return tuple(dict.fromkeys(name for name in found if name not in self.values))

    def _value(self, match: re.Match[str]) -> str:
        return match[0][1:] if match[1] else self.values.get(match[2], match[0])


def handles(prompt: str, addresses: Addresses, run_dir: Path, places: Mapping[str, str] | None = None) -> Handles:
    """The handles of a run.

    `flowproof.` and one of `prompt`, `proxy_url`, `proxy_url_no_v1`, `run_dir`, `mcp_url.NAME`, `mcp_server.NAME`;
    `places` adds `spec_dir`, `home` and `workspace`, as far as the run has them.
    """
    return Handles(
        {
            "flowproof.prompt": prompt,
            "flowproof.proxy_url": f"{addresses.url}/v1",
            "flowproof.proxy_url_no_v1": addresses.url,
            "flowproof.run_dir": str(run_dir),
            **(places or {}),
            **{f"flowproof.mcp_url.{name}": url for name, url in addresses.mcp_urls.items()},
            **{f"flowproof.mcp_server.{name}": command for name, command in addresses.mcp_servers.items()},
        }
    )


def warning(name: str, known: Handles) -> str:
    """What is said about an unknown handle."""
    return f"unknown handle ${{{name}}} is passed on as it is; known here: {', '.join(sorted(known.values))}"
