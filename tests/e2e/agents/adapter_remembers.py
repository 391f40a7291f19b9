"""The agent that remembers, as an adapter: it speaks the adapter protocol, and asks a model all the same."""

import contextlib
import json
import runpy
import sys
import urllib.error
from pathlib import Path

json.loads(sys.stdin.readline())  # run_start
status = "completed"
try:
    with contextlib.redirect_stdout(sys.stderr):
        runpy.run_path(str(Path(__file__).with_name("remembers.py")))
except urllib.error.HTTPError:
    status = "failed"
print(json.dumps({"type": "final", "status": status, "output": {}}))
