"""Running programs contained and uncontained, as this user or as nobody, here or in a network of their own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

HERE = Path(__file__).parent
PROGRAMS = HERE / "programs"
ROOT = Path(__file__).parents[3]

_BOOT = "import sys; sys.path[:0] = [sys.argv[1], {programs!r}]; from {supervisor} import main; main(**{options})"

type User = Literal["me", "nobody"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a program ended."""

    code: int | None
    out: str
    err: str
    report: Mapping[str, Any] = field(default_factory=dict)
    survivors: int = 0
    launch_s: float = 0.0
    not_contained: str = ""

    @property
    def lines(self) -> dict[str, str]:
        """What a program of attacks printed: name to outcome."""
        return dict(line.split(" ", 1) for line in self.out.splitlines() if " " in line)

    def destinations(self) -> set[str]:
        return {one["to"] for one in self.report["violations"]}


@dataclass(frozen=True, slots=True)
class Harness:
    """Where programs run: under which user, in which network."""

    folder: Path
    """Writable for the user."""
    user: User = "me"
    network: str = ""
    """Name of a network namespace; empty for this one."""

    def contained(self, *argv: str | Path, boot: str = "", grace_s: float = 0.0, **options: Any) -> Outcome:
        """Run under containment; options: policy, env, stdin, timeout_s, refused."""
        return self._run(argv, contained=True, boot=boot, grace_s=grace_s, **options)

    def plain(self, *argv: str | Path, **options: Any) -> Outcome:
        """Run without containment, for what must be seen to succeed there."""
        return self._run(argv, contained=False, **options)

    def command(self) -> list[str]:
        """The words that start the program which starts the program."""
        python, paths = sys.executable, [ROOT / "runner", ROOT / "addons"]
        words = ["ip", "netns", "exec", self.network] if self.network else []
        if self.user == "nobody":
            shared = self.folder / "python"
            shared.mkdir(exist_ok=True)
            python = str(shared / "base" / "bin" / Path(os.path.realpath(sys.executable)).name)
            words += ["unshare", "--mount", "--propagation", "private", "sh", "-c", _SHARE, "sh"]
            words += [sys.base_prefix, sysconfig.get_path("purelib"), str(ROOT), str(shared)]
            words += ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
            words += ["--inh-caps=-all", "--bounding-set=-all"]
            paths = [shared / "root" / "runner", shared / "root" / "addons", shared / "site"]
            words += ["env", "HOME=/tmp", f"LD_LIBRARY_PATH={shared / 'base' / 'lib'}"]
            return [*words, f"PYTHONPATH={':'.join(map(str, paths))}", python, self._program()]
        return [*words, "env", f"PYTHONPATH={':'.join(map(str, paths))}", python, self._program()]

    def programs(self) -> Path:
        """The folder of the test programs, as the user sees it."""
        return self.folder / "python" / "root" / PROGRAMS.relative_to(ROOT) if self.user == "nobody" else PROGRAMS

    def boot(self, supervisor: str, **options: bool) -> str:
        """The boot code of a supervisor among the test programs."""
        return _BOOT.format(programs=str(self.programs()), supervisor=supervisor, options=options)

    def _program(self) -> str:
        return str(self.programs() / "contain.py")

    def order(self, *argv: str | Path, **options: Any) -> str:
        """What the program that starts the program reads."""
        return json.dumps(self._order(argv, contained=True, **options))

    def _order(self, argv: Sequence[str | Path], **options: Any) -> dict[str, Any]:
        return {
            "argv": [str(self.programs() / word) if str(word).endswith(".py") else str(word) for word in argv],
            "cwd": str(self.folder),
            "policy": {},
            "env": {},
            "stdin": "",
            "timeout_s": 30,
            "boot": "",
            "grace_s": 0.0,
            "refused": [],
            **options,
        }

    def _run(self, argv: Sequence[str | Path], **options: Any) -> Outcome:
        order = self._order(argv, **options)
        given, limit_s = json.dumps(order), order["timeout_s"] + 60
        done = subprocess.run(self.command(), input=given, capture_output=True, text=True, timeout=limit_s)
        assert done.returncode == 0, done.stderr
        return Outcome(**{"code": None, "out": "", "err": "", **json.loads(done.stdout)})


# Mounts, in a namespace of the command's own, what a user without rights has no way to reach where it lies.
_SHARE = (
    'for name in base site root; do mkdir -p "$4/$name"; done;'
    ' mount --bind "$1" "$4/base" && mount --bind "$2" "$4/site" && mount --bind "$3" "$4/root" || exit 1;'
    ' shift 4; exec "$@"'
)


def can_switch_user() -> bool:
    """True where programs can be run as nobody."""
    return os.geteuid() == 0 and all(map(shutil.which, ("setpriv", "unshare", "mount")))
