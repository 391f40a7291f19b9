// An agent made with Vercel's AI SDK.
import { openai } from "@ai-sdk/openai";
import { generateText, isStepCount, tool } from "ai";
import * as shell from "./shell.mjs";

const look = tool({ description: shell.description, inputSchema: shell.parameters, execute: shell.run });
const { text } = await generateText({
  model: openai("gpt-5"),
  instructions: "You look into files.",
  prompt: process.env.FLOWPROOF_PROMPT,
  tools: { [shell.name]: look },
  stopWhen: isStepCount(5),
});
console.log(text);
