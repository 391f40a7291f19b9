// Vercel's AI SDK: `node ai_sdk.mjs [openai|chat|anthropic] [stream]`.
import { anthropic } from "@ai-sdk/anthropic";
import { openai } from "@ai-sdk/openai";
import { generateText, isStepCount, streamText, tool } from "ai";
import { z } from "zod";

const { AGENT_SYSTEM = "You are terse.", AGENT_TEMPERATURE = "0.2", FLOWPROOF_PROMPT } = process.env;
const description = process.env.AGENT_DESCRIPTION ?? "Tell the weather in a city.";
const inputSchema = z.object({ city: z.string() });
const model = { openai, chat: openai.chat, anthropic }[process.argv[2]]("brain-1");
const ask = {
  model,
  system: AGENT_SYSTEM,
  temperature: Number(AGENT_TEMPERATURE),
  prompt: FLOWPROOF_PROMPT,
  tools: {
    get_weather: tool({ description, inputSchema, execute: async ({ city }) => `31 degrees in ${city}` }),
    get_time: tool({ description: "Tell the time.", inputSchema, execute: async ({ city }) => `noon in ${city}` }),
  },
  stopWhen: isStepCount(5),
};

const result = process.argv[3] === "stream" ? streamText(ask) : await generateText(ask);
const steps = await result.steps;
for (const { response, usage, toolCalls, text } of steps) {
  // Anthropic's replies carry no time: what the SDK calls one is this machine's clock
  const at = process.argv[2] === "anthropic" ? undefined : response.timestamp;
  console.log(JSON.stringify({ id: response.id, at, usage, toolCalls, text }));
}
