"""Has one turn, then stays.

With AGENT_LINGERS=FILE it writes the file and waits for ever, ignoring SIGTERM, with a child that ignores it too and a
grandchild in a session of its own. `lingers.py leaves` exits instead, leaving that grandchild with its stdout open.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import openai

WAIT = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready', flush=True); time.sleep(600)"
STRAY = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {WAIT!r}], start_new_session=True).wait()"

answer = openai.OpenAI(timeout=20).chat.completions.create(
    model="brain-1", messages=[{"role": "user", "content": os.environ["FLOWPROOF_PROMPT"]}]
)
print(answer.choices[0].message.content, flush=True)
if "leaves" in sys.argv:
    subprocess.Popen([sys.executable, "-c", WAIT], start_new_session=True)
elif ready := os.environ.get("AGENT_LINGERS"):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    child = subprocess.Popen([sys.executable, "-c", STRAY], stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.readline()
    Path(ready).touch()
    time.sleep(600)
