"""The environment an agent is started with: a function of the shell's, the boundary's addresses and the spec."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from flowproof_runner.drivers.base import Addresses

PLACEHOLDER = "flowproof-placeholder-key"
"""Stands where a key would: SDKs refuse to start without one, and the boundary puts the real key on the wire."""

_OURS = ("FLOWPROOF_AGENT_KEY", "FLOWPROOF_AGENT_UPSTREAM")
_CREDENTIALS = (*_OURS, "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN")
_WITH_V1 = ("OPENAI_BASE_URL", "OPENAI_API_BASE", "OPENAI_BASE", "FLOWPROOF_LLM_PROXY")
_WITHOUT_V1 = ("ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL", "GEMINI_API_BASE", "OLLAMA_HOST")
_KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "COPILOT_PROVIDER_API_KEY")
_LOOPBACK = ("127.0.0.1", "localhost", "::1")

_QUIET = {
    # Each only silences a report to its vendor, which would leave the machine or cost seconds at exit.
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
    "CREWAI_DISABLE_TELEMETRY": "true",
    "AGNO_TELEMETRY": "false",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
}


def build(
    shell: Mapping[str, str],
    addresses: Addresses,
    prompt: str,
    *,
    key_variables: Iterable[str] = (),
    overrides: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """The agent's whole environment.

    `key_variables` are the dialects' own: removed like every upstream credential. `overrides` (the suite's `env`,
    then `agent.env`) come last and win over everything; only flowproof's own credentials are no agent's business.
    """
    kept = {name: value for name, value in shell.items() if name not in {*_CREDENTIALS, *key_variables}}
    own = {name: value for name, value in (overrides or {}).items() if name not in _OURS}
    return {
        **_QUIET,
        **kept,
        **_base_urls(addresses.url, shell, own),
        **dict.fromkeys(_KEYS, PLACEHOLDER),
        **_mcp(addresses),
        **_no_proxy(shell),
        "FLOWPROOF_PROMPT": prompt,
        **own,
    }


def variable_name(server: str) -> str:
    """An MCP server's name as part of a variable: `my-files` -> `MY_FILES`."""
    return re.sub(r"[^A-Za-z0-9]", "_", server).upper()


def _base_urls(url: str, shell: Mapping[str, str], overrides: Mapping[str, str]) -> dict[str, str]:
    wire = overrides.get("COPILOT_PROVIDER_TYPE", shell.get("COPILOT_PROVIDER_TYPE", "openai"))
    return {
        **dict.fromkeys(_WITH_V1, f"{url}/v1"),
        **dict.fromkeys(_WITHOUT_V1, url),
        # Copilot appends its provider's own path: `/v1/messages` for Anthropic, `/chat/completions` for OpenAI.
        "COPILOT_PROVIDER_BASE_URL": url if wire == "anthropic" else f"{url}/v1",
    }


def _mcp(addresses: Addresses) -> dict[str, str]:
    servers = {f"FLOWPROOF_MCP_SERVER_{variable_name(name)}": cmd for name, cmd in addresses.mcp_servers.items()}
    urls = {f"FLOWPROOF_MCP_URL_{variable_name(name)}": url for name, url in addresses.mcp_urls.items()}
    return servers | urls


def _no_proxy(shell: Mapping[str, str]) -> dict[str, str]:
    """Both spellings, the shell's hosts first: most clients send even loopback requests to a proxy otherwise."""
    before = f"{shell.get('NO_PROXY', '')},{shell.get('no_proxy', '')}".split(",")
    hosts = dict.fromkeys(host for host in (*(part.strip() for part in before), *_LOOPBACK) if host)
    return dict.fromkeys(("NO_PROXY", "no_proxy"), ",".join(hosts))
