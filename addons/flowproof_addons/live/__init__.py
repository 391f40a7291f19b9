"""A session in progress: what the hooks do, as plain functions and values, without mitmproxy."""
