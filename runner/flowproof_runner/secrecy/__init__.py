"""Secrets kept out of what is written, and looked for in what was."""
