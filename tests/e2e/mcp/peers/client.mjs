// The same program on the TypeScript SDKs: `@modelcontextprotocol/client` (2.x) or `@modelcontextprotocol/sdk` (1.x).

// `client.mjs auto|legacy|sdk-1`; sessions come as lines, as in clients/serving.py.
import { createInterface } from "node:readline";

const mode = process.argv[2];

async function connected(target, seen) {
  const handlers = (client, method) => {
    client.setRequestHandler(method("sampling/createMessage"), (request) => {
      seen.push(["sampling", request.params.messages[0].content.text]);
      return { role: "assistant", content: { type: "text", text: "sampled" }, model: "stand-in" };
    });
    client.setRequestHandler(method("elicitation/create"), (request) => {
      seen.push(["elicitation", request.params.message]);
      return { action: "accept", content: { name: "Ada", check: true } };
    });
    client.setRequestHandler(method("roots/list"), () => {
      seen.push(["roots"]);
      return { roots: [{ uri: "file:///tmp/project", name: "project" }] };
    });
    return client;
  };
  const capabilities = { sampling: {}, elicitation: {}, roots: { listChanged: true } };
  const info = { name: "flowproof-test", version: "1" };
  if (mode === "sdk-1") {
    const types = await import("@modelcontextprotocol/sdk/types.js");
    const schemas = {
      "sampling/createMessage": types.CreateMessageRequestSchema,
      "elicitation/create": types.ElicitRequestSchema,
      "roots/list": types.ListRootsRequestSchema,
    };
    const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
    const client = handlers(new Client(info, { capabilities }), (name) => schemas[name]);
    client.setNotificationHandler(types.LoggingMessageNotificationSchema, (n) => {
      seen.push(["log", n.params.level, n.params.data]);
    });
    if (target.startsWith("http")) {
      const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
      await client.connect(new StreamableHTTPClientTransport(new URL(target)));
    } else {
      const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
      await client.connect(new StdioClientTransport({ command: target, stderr: "ignore" }));
    }
    return client;
  }
  const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const options = { capabilities, versionNegotiation: { mode } };
  const client = handlers(new Client(info, options), (name) => name);
  client.setNotificationHandler("notifications/message", (n) => {
    seen.push(["log", n.params.level, n.params.data]);
  });
  if (target.startsWith("http")) {
    await client.connect(new StreamableHTTPClientTransport(new URL(target)));
  } else {
    const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
    await client.connect(new StdioClientTransport({ command: target, stderr: "ignore" }));
  }
  return client;
}

async function step(client, [name, ...args]) {
  const call = (tool, given, options) =>
    mode === "sdk-1"
      ? client.callTool({ name: tool, arguments: given }, undefined, options)
      : client.callTool({ name: tool, arguments: given }, options);
  switch (name) {
    case "call":
      return call(args[0], args[1]);
    case "parallel":
      return Promise.all(args[0].map(([tool, given]) => call(tool, given)));
    case "progress": {
      const steps = [];
      const onprogress = (p) => steps.push([p.progress, p.total ?? null, p.message ?? null]);
      return [await call(args[0], args[1], { onprogress }), steps];
    }
    case "cancel":
      try {
        return await call(args[0], args[1], { signal: AbortSignal.timeout(1000 * args[2]) });
      } catch {
        return "cancelled";
      }
    case "tools":
      return (await client.listTools()).tools.map((tool) => tool.name);
    case "resources":
      return (await client.listResources()).resources.map((resource) => resource.uri);
    case "prompts":
      return (await client.listPrompts()).prompts.map((prompt) => prompt.name);
    case "read":
      return client.readResource({ uri: args[0] });
    case "prompt":
      return client.getPrompt({ name: args[0], arguments: args[1] });
  }
  throw new Error(name);
}

async function run(target, script) {
  const seen = [];
  const out = [];
  const client = await connected(target, seen);
  for (const one of script) {
    try {
      out.push(await step(client, one));
    } catch (error) {
      out.push(`${error.name}: ${error.message}`);
    }
  }
  await client.close();
  seen.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  return { out, seen };
}

createInterface({ input: process.stdin })
  .on("line", async (line) => {
    const { id, target, script } = JSON.parse(line);
    const answer = await run(target, script).then(
      (said) => ({ said }),
      (error) => ({ failed: String(error.stack) }),
    );
    console.log(JSON.stringify({ id, ...answer }));
  })
  .on("close", () => process.exit(0));
