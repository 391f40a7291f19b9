"""An agent that embeds what it is told before it asks the model: `openai_embeds.py [TEXT]`."""

from __future__ import annotations

import os
import sys

import openai

client = openai.OpenAI(max_retries=0)
text = sys.argv[1] if len(sys.argv) > 1 else os.environ["FLOWPROOF_PROMPT"]
vector = client.embeddings.create(model="brain-e", input=text).data[0].embedding
prompt = f"Nearest to {max(vector):.2f}"
answer = client.chat.completions.create(model="brain-1", messages=[{"role": "user", "content": prompt}])
print([round(value, 3) for value in vector], answer.choices[0].message.content)
