"""An isolated home: an empty folder, and an environment that says nothing of the user or the machine's settings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

_POINTING_HOME = (
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "COPILOT_HOME",
    "GEMINI_CLI_HOME",
    "GIT_CONFIG_GLOBAL",
    "GNUPGHOME",
    "LLM_USER_PATH",
    "NPM_CONFIG_USERCONFIG",
    "OPENCODE_CONFIG",
    "OPENCODE_CONFIG_DIR",
    "QWEN_HOME",
    "npm_config_userconfig",
)
"""They lead back into the user's own home; an agent that needs one has it set in `agent.env`."""

SCRATCH = ("home", "run", "tmp")
"""The folders an isolated home consists of."""

_FIXED = {
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONHASHSEED": "0",
    "GIT_CONFIG_NOSYSTEM": "1",
}

_GITCONFIG = """\
[user]
	name = flowproof
	email = flowproof@example.invalid
[init]
	defaultBranch = main
"""


def variables(root: Path) -> dict[str, str]:
    """What an agent at home in `root` has set; makes the home."""
    home = root / "home"
    folders = {
        "HOME": home,
        "XDG_CONFIG_HOME": home / ".config",
        "XDG_CACHE_HOME": home / ".cache",
        "XDG_DATA_HOME": home / ".local" / "share",
        "XDG_STATE_HOME": home / ".local" / "state",
        "XDG_RUNTIME_DIR": root / "run",
        "TMPDIR": root / "tmp",
    }
    for name in ("HOME", "XDG_RUNTIME_DIR", "TMPDIR"):
        folders[name].mkdir(mode=0o700)
    (home / ".gitconfig").write_text(_GITCONFIG)
    return {**_FIXED, **{name: str(folder) for name, folder in folders.items()}}


def without_user(shell: Mapping[str, str]) -> dict[str, str]:
    """The shell's variables but for those that speak of the user's home, language and zone."""
    return {
        name: value
        for name, value in shell.items()
        if name not in _POINTING_HOME and not name.startswith(("XDG_", "LC_", "LANGUAGE"))
    }
