"""Commands run as an ordinary user, whoever runs the tests."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

HERE = Path(__file__).parent
NOBODY = 65534


def ordinary(*more: str) -> Sequence[str]:
    """Words that make the command behind them that of an ordinary user: none are needed by one who is.

    `more`: further options of `unshare`, and a script with its arguments that is run as root before.
    """
    if os.getuid() != 0:
        return ()
    needed = (sys.base_prefix, str(HERE.parents[1]), sys.prefix)  # the outer before the inner
    words = ("unshare", "--mount", *more, "sh", str(HERE / "as_nobody.sh"), *needed, "--")
    if subprocess.run([*words, "true"], capture_output=True).returncode != 0:
        pytest.skip("root cannot become an ordinary user here: run the tests as one")
    return words
