// An agent made with LangChain's `createAgent`, which runs on LangGraph.
import { ChatOpenAI } from "@langchain/openai";
import { createAgent, tool } from "langchain";
import * as shell from "./shell.mjs";

const look = tool(shell.run, { name: shell.name, description: shell.description, schema: shell.parameters });
const agent = createAgent({
  model: new ChatOpenAI({ model: "gpt-5" }),
  tools: [look],
  systemPrompt: "You look into files.",
});
const answer = await agent.invoke({ messages: [{ role: "user", content: process.env.FLOWPROOF_PROMPT }] });
console.log(answer.messages.at(-1).text);
