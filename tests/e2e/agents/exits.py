"""Reads usage, prints the model, and ends with the exit code in AGENT_EXIT."""

import os
import sys

import openai

answer = openai.OpenAI(timeout=20).chat.completions.create(
    model="brain-1", messages=[{"role": "user", "content": os.environ["FLOWPROOF_PROMPT"]}]
)
assert answer.usage is not None
print(answer.usage.total_tokens + 1, answer.model, answer.created)
sys.exit(int(os.environ.get("AGENT_EXIT", "0")))
