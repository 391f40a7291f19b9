// An agent made with the OpenAI Agents SDK for JavaScript.
import { Agent, run, tool } from "@openai/agents";
import * as shell from "./shell.mjs";

const { name, description, parameters } = shell;
const look = tool({ name, description, parameters, execute: shell.run });
const agent = new Agent({ name: "notes", instructions: "You look into files.", model: "gpt-5", tools: [look] });
console.log((await run(agent, process.env.FLOWPROOF_PROMPT)).finalOutput);
