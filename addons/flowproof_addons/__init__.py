"""The half of flowproof that runs inside mitmproxy, and the pure code both halves share."""

from pathlib import Path

from flowproof_addons.errors import FlowproofError

SCRIPT = Path(__file__).with_name("scripts") / "flowproof.py"
"""What `mitmdump -s` and `mitmweb -s` load."""

__all__ = ["SCRIPT", "FlowproofError"]
