"""Opens a connection to the boundary and leaves it idle, half a request sent on another, and has its turn meanwhile."""

import os
import socket
from urllib.parse import urlsplit

import openai

boundary = urlsplit(os.environ["OPENAI_BASE_URL"])
address = (boundary.hostname or "", boundary.port or 80)
with socket.create_connection(address), socket.create_connection(address) as half:
    half.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 99\r\n\r\n{")
    question = [{"role": "user", "content": os.environ["FLOWPROOF_PROMPT"]}]
    answer = openai.OpenAI(timeout=20).chat.completions.create(model="brain-1", messages=question)  # type: ignore[arg-type]  # a literal
    print(answer.choices[0].message.content)
