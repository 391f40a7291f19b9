// The official anthropic SDK for Node: `node anthropic_messages.mjs [once|stream]`.
import Anthropic from "@anthropic-ai/sdk";

const { AGENT_SYSTEM = "You are terse.", AGENT_TEMPERATURE = "0.2", FLOWPROOF_PROMPT } = process.env;
const description = process.env.AGENT_DESCRIPTION ?? "Tell the weather in a city.";
const input_schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const results = { get_weather: "31 degrees", get_time: "noon" };
const client = new Anthropic();
const messages = [{ role: "user", content: FLOWPROOF_PROMPT }];

for (;;) {
  const ask = {
    model: "brain-1", max_tokens: 500, system: AGENT_SYSTEM, temperature: Number(AGENT_TEMPERATURE), messages,
    tools: [
      { name: "get_weather", description, input_schema },
      { name: "get_time", description: "Tell the time.", input_schema },
    ],
  };
  const streamed = process.argv[2] === "stream";
  const message = streamed ? await client.messages.stream(ask).finalMessage() : await client.messages.create(ask);
  console.log(JSON.stringify(message));
  const calls = message.content.filter((block) => block.type === "tool_use");
  if (!calls.length) break;
  messages.push({ role: "assistant", content: message.content });
  messages.push({
    role: "user",
    content: calls.map(({ id, name, input }) => ({
      type: "tool_result", tool_use_id: id, content: `${results[name]} in ${input.city}`,
    })),
  });
}
