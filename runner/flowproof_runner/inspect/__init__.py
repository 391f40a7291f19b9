"""Recorded and running flows in mitmweb, for people who want to look."""
