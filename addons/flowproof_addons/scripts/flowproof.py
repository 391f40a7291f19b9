"""What `mitmdump -s` loads: alone in its folder, which mitmproxy puts on the path."""

from flowproof_addons.suite import addons

__all__ = ["addons"]
