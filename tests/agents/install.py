"""Install third-party agents, each alone and in the versions locked here, into `.cache/agents` of the checkout.

uv run python tests/agents/install.py codex pi      # no name: all of them
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).parent
CACHE = Path(os.environ.get("FLOWPROOF_AGENTS_CACHE") or HERE.parents[1] / ".cache" / "agents")
NODE = Path(sys.executable).parent
"""Where the node and npm of the development environment are."""


def names() -> list[str]:
    """Every agent that can be installed."""
    return sorted([*(path.name for path in (HERE / "npm").iterdir()), *(p.stem for p in (HERE / "pypi").glob("*.txt"))])


def programs(name: str) -> Path | None:
    """The folder with an agent's programs; None while it is not installed."""
    folder = _folder(name)
    found = folder / "node_modules" / ".bin" if _npm(name).is_dir() else folder / "bin"
    return found if (folder / "installed").exists() else None


def install(name: str) -> None:
    """Install an agent, unless it is already there in the locked version."""
    if programs(name) is not None:
        return
    folder = _folder(name)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if _npm(name).is_dir():
        shutil.copytree(_npm(name), folder, dirs_exist_ok=True)
        path = f"{NODE}{os.pathsep}{os.environ['PATH']}"
        # not `npm ci`: some locks lack the binaries of other platforms, which it takes for a mistake
        _run([str(NODE / "npm"), "install", "--no-audit", "--no-fund"], folder, PATH=path)
    else:
        _run(["uv", "venv", "--quiet", "--clear", "--python", sys.executable, "."], folder)
        requirements = str(HERE / "pypi" / f"{name}.txt")
        _run(["uv", "pip", "install", "--quiet", "--python", "bin/python", "-r", requirements], folder)
    (folder / "installed").touch()


def main(wanted: Sequence[str]) -> None:
    """Install what is named on the command line."""
    if unknown := set(wanted) - set(names()):
        raise SystemExit(f"no such agent: {', '.join(sorted(unknown))}; there are {', '.join(names())}")
    for name in wanted or names():
        install(name)
        print(f"{name}: {programs(name)}", flush=True)


def _npm(name: str) -> Path:
    return HERE / "npm" / name


def _folder(name: str) -> Path:
    """Called after what is locked: another version is another folder."""
    lock = _npm(name) / "package-lock.json" if _npm(name).is_dir() else HERE / "pypi" / f"{name}.txt"
    return CACHE / f"{name}-{hashlib.sha256(lock.read_bytes()).hexdigest()[:12]}"


def _run(command: Sequence[str], folder: Path, **more: str) -> None:
    """Quietly: what a tool says is only of interest when it fails."""
    environment = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    done = subprocess.run(command, cwd=folder, env={**environment, **more}, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} in {folder} failed:\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    main(sys.argv[1:])
