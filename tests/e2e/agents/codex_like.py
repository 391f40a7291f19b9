"""A client with Codex's habits: settings in its home, ids and times of its own in every request."""

import json
import os
import sys
import time
import tomllib
import urllib.request
import uuid
from pathlib import Path

settings = tomllib.loads((Path(os.environ["CODEX_HOME"]) / "config.toml").read_text())
provider = settings["model_providers"][settings["model_provider"]]


def ask(items: list[object]) -> object:
    body = {
        "model": "brain-1",
        "input": items,
        "prompt_cache_key": str(uuid.uuid4()),
        "client_metadata": {"thread": str(uuid.uuid4()), "started_ms": time.time_ns()},
    }
    request = urllib.request.Request(
        provider["base_url"] + "/responses",
        json.dumps(body).encode(),
        {
            "content-type": "application/json",
            "authorization": f"Bearer {os.environ[provider['env_key']]}",
            "user-agent": "codex_exec/0.0 (test)",
        },
    )
    return json.load(urllib.request.urlopen(request, timeout=20))


said = {
    "type": "message",
    "role": "user",
    "id": f"msg_{uuid.uuid4()}",
    "content": [
        {"type": "input_text", "text": time.strftime("<current_date>%Y-%m-%d</current_date>")},
        {"type": "input_text", "text": f"{os.environ['FLOWPROOF_PROMPT']} {os.environ.get('AGENT_EXTRA', '')}"},
    ],
}
print(json.dumps(ask([said])), sys.argv[1:])
