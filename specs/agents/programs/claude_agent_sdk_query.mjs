// An agent made with the Claude Agent SDK for TypeScript.
import { query } from "@anthropic-ai/claude-agent-sdk";

const options = { permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true, allowedTools: ["Bash"] };
for await (const message of query({ prompt: process.env.FLOWPROOF_PROMPT, options })) {
  if (message.type === "result") console.log(message.result);
}
