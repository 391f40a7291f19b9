"""What docs/agents.md says of each agent, so that what runs and what is locked can be held against it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "agents.md"
APIS = {
    "Chat Completions": "openai-chat",
    "Responses": "openai-responses",
    "Messages": "anthropic-messages",
    "Gemini": "gemini",
}
_ROW = re.compile(r"^\| \[[^\]]+\]\(agents/(\S+)\.md\) \| (npm|PyPI) (\S+) \|.*\| ([^|]+) \|$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Documented:
    """A row of the table."""

    registry: str
    version: str
    dialects: frozenset[str]


def agents() -> dict[str, Documented]:
    """The rows by the name of the agent's page, which is that of its spec."""
    return {
        name: Documented(registry, version, frozenset(id for api, id in APIS.items() if api in apis))
        for name, registry, version, apis in _ROW.findall(PAGE.read_text())
    }
