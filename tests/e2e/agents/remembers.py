"""An agent as they are: it counts its runs in its home, leaves a file where it works, and tells the model all of it."""

import datetime
import json
import os
import subprocess
import urllib.request
from pathlib import Path

memory = Path.home() / ".remembers"
runs = int(memory.read_text()) + 1 if memory.exists() else 1
memory.write_text(str(runs))
notes = sorted(path.name for path in Path().iterdir() if path.name.startswith("note"))
Path(f"note-{len(notes)}").touch()

git = subprocess.run(["git", "log", "--format=%H %ad"], capture_output=True, text=True)
facts = {
    "runs": runs,
    "notes": notes,
    "home": str(Path.home()),
    "cwd": str(Path.cwd()),
    "commit": git.stdout if Path(".git").exists() else "",
    "now": datetime.datetime.now().isoformat(),
    "zone": os.environ.get("TZ", ""),
    "language": os.environ.get("LANG", ""),
    "hello": Path("hello.txt").read_text() if Path("hello.txt").exists() else "",
}
if os.environ.get("AGENT_TELLS"):
    facts["date"] = subprocess.run(["date"], capture_output=True, text=True).stdout
    facts = {name: facts[name] for name in os.environ["AGENT_TELLS"].split(",")}
body = {"model": "brain-1", "messages": [{"role": "user", "content": json.dumps(facts)}]}
print(json.dumps(facts))
request = urllib.request.Request(
    os.environ["OPENAI_BASE_URL"] + "/chat/completions", json.dumps(body).encode(), {"content-type": "application/json"}
)
urllib.request.urlopen(request, timeout=20).read()
