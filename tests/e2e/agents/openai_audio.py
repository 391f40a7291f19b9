"""Transcribes a sound through the official SDK (a multipart upload), then chats about it."""

import os

import openai

client = openai.OpenAI(timeout=20)
sound = os.environ.get("AGENT_SOUND", "RIFF some sound").encode()
heard = client.audio.transcriptions.create(model="ears-1", file=("note.wav", sound), language="en")
prompt = f"{os.environ['FLOWPROOF_PROMPT']} I heard: {heard.text}"
answer = client.chat.completions.create(model="brain-1", messages=[{"role": "user", "content": prompt}])
print(heard.text, answer.choices[0].message.content)
