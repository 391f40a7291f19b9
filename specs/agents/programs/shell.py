"""The one tool of the small agents here."""

import subprocess


def run_command(command: str) -> str:
    """Run a shell command and return what it printed."""
    return subprocess.run(command, shell=True, capture_output=True, text=True).stdout
