"""Prints its whole environment, then has one turn."""

import json
import os

import openai

print(json.dumps(dict(os.environ), indent=0))
openai.OpenAI(timeout=20).chat.completions.create(
    model="brain-1", messages=[{"role": "user", "content": os.environ["FLOWPROOF_PROMPT"]}]
)
