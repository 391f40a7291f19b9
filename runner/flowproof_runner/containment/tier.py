"""What holds an agent here, found by doing it: versions and settings promise what a container then refuses."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from flowproof_runner.containment.contained import Contained
from flowproof_runner.containment.policy import Policy
from flowproof_runner.containment.process import NotContained
from flowproof_runner.containment.report import not_contained

NOT_ASKED = not_contained("the spec has neither agent.allow_egress nor assert_no_egress")
URL = not_contained("a url: agent is not started by flowproof")
ADAPTER = not_contained("an adapter: agent answers through flowproof and cannot be contained")
UNCONTAINED = {"url": URL, "adapter": ADAPTER}
"""Per driver whose agents cannot be contained, the tier they have."""


def probe() -> str:
    """Launch a program that does nothing and give the tier it had.

    The launch tests itself: it connects where nothing may be reached, sends nothing, and must be refused.
    """
    program = shutil.which("true")
    argv = [program] if program else [sys.executable, "-I", "-S", "-c", ""]
    with tempfile.TemporaryDirectory() as folder:
        try:
            process = Contained(Policy(), Path(folder)).spawn(argv, {}, Path(folder))
        except NotContained as reason:
            return not_contained(str(reason))
        return process.report().tier
