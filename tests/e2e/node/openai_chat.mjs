// The official openai SDK for Node: `node openai_chat.mjs [once|stream]`.
import OpenAI from "openai";

const { AGENT_SYSTEM = "You are terse.", AGENT_TEMPERATURE = "0.2", FLOWPROOF_PROMPT } = process.env;
const description = process.env.AGENT_DESCRIPTION ?? "Tell the weather in a city.";
const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const results = { get_weather: "31 degrees", get_time: "noon" };
const client = new OpenAI();
const messages = [
  { role: "system", content: AGENT_SYSTEM },
  { role: "user", content: FLOWPROOF_PROMPT },
];

async function create() {
  const ask = {
    model: "brain-1",
    temperature: Number(AGENT_TEMPERATURE),
    messages,
    tools: [
      { type: "function", function: { name: "get_weather", description, parameters } },
      { type: "function", function: { name: "get_time", description: "Tell the time.", parameters } },
    ],
  };
  if (process.argv[2] !== "stream") return client.chat.completions.create(ask);
  return client.chat.completions.stream({ ...ask, stream_options: { include_usage: true } }).finalChatCompletion();
}

for (;;) {
  const completion = await create();
  console.log(JSON.stringify(completion));
  const { content, tool_calls } = completion.choices[0].message;
  if (!tool_calls?.length) break;
  const calls = tool_calls.map(({ id, function: f }) => ({
    id, type: "function", function: { name: f.name, arguments: f.arguments },
  }));
  messages.push({ role: "assistant", content, tool_calls: calls });
  for (const { id, function: f } of calls) {
    const { city } = JSON.parse(f.arguments);
    messages.push({ role: "tool", tool_call_id: id, content: `${results[f.name]} in ${city}` });
  }
}
