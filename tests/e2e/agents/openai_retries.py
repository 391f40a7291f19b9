"""The openai SDK told to be stubborn: `openai_retries.py MAX_RETRIES`; prints how many requests left the client."""

import os
import sys

import openai

requests = 0


def count(_: object) -> None:
    global requests
    requests += 1


client = openai.OpenAI(timeout=20, max_retries=int(sys.argv[1]))
client._client.event_hooks["request"].append(count)
try:
    messages = [{"role": "user", "content": os.environ.get("AGENT_QUESTION", "How is Nairobi?")}]
    answer = client.chat.completions.create(model="brain-1", messages=messages)  # type: ignore[arg-type]  # a literal
    print(answer.choices[0].message.content)
except openai.APIStatusError as error:
    print(error.status_code, error.message)
    sys.exit(1)
finally:
    print(f"requests: {requests}")
