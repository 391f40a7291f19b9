"""The only modules that import mitmproxy: small hooks over pure code."""
