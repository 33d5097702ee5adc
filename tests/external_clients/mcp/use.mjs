// Uses an MCP server with the client that is named, as its own documentation does it, and prints what came of it.
//     node use.mjs CLIENT URL < {"headers": {...}, "key": PRIVATE_KEY, "calls": {TOOL: ARGUMENTS, ...}, "guest": {...}}
// Each tool is called without a payment, and where it tells a price once more with one. The guest answers what is asked.
import { readFileSync } from "node:fs";

import { ExactEvmScheme } from "@x402/evm";
import { privateKeyToAccount } from "viem/accounts";

const [chosen, url] = process.argv.slice(2);
const { headers, key, calls, guest } = JSON.parse(readFileSync(0, "utf8"));
const us = { name: "outside", version: "1" };
const elicitations = [];

// Each returns a client that is not connected yet, and what it is connected by.
const clients = {
  async "@modelcontextprotocol/sdk"() {
    const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
    const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
    const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
    return [new Client(us), transport];
  },
  "@modelcontextprotocol/client": () => second("legacy"),
  "@modelcontextprotocol/client auto": () => second("auto"),
  "mcp-remote": () => bridged(),
};

async function second(mode) {
  const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const client = new Client(us, { versionNegotiation: { mode }, capabilities: { elicitation: { form: {} } } });
  client.setRequestHandler("elicitation/create", (request) => {
    elicitations.push(request.params);
    return { action: "accept", content: guest };
  });
  return [client, new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } })];
}

// As desktop programs start it, which speak to a child over its standard input and output.
async function bridged() {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
  const named = Object.entries(headers).flatMap(([header, value]) => ["--header", `${header}:${value}`]);
  const args = ["node_modules/mcp-remote/dist/proxy.js", url, "--transport", "http-only", "--allow-http", ...named];
  return [new Client(us), new StdioClientTransport({ command: process.execPath, args, env: process.env })];
}

// The payment that is asked for, signed by viem.
async function payment(required) {
  const scheme = new ExactEvmScheme(privateKeyToAccount(key));
  const accepted = required.accepts.find((one) => one.scheme === "exact");
  const { payload } = await scheme.createPaymentPayload(required.x402Version, accepted);
  const { x402Version, resource, extensions } = required;
  return { x402Version, resource, accepted, payload, extensions };
}

try {
  const [client, transport] = await clients[chosen]();
  await client.connect(transport);
  const { tools } = await client.listTools();
  const { resources } = await client.listResources();
  const { resourceTemplates } = await client.listResourceTemplates();
  const { prompts } = await client.listPrompts();
  const results = {};
  const bought = {};
  for (const [name, args] of Object.entries(calls)) {
    const result = (results[name] = await client.callTool({ name, arguments: args }));
    if (!result.isError || !result.structuredContent?.accepts) continue;
    const meta = { "x402/payment": await payment(result.structuredContent) };
    bought[name] = await client.callTool({ name, arguments: args, _meta: meta });
  }
  const server = client.getServerVersion();
  const spoken = client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion;
  await client.close();
  const lists = { tools, resources, resourceTemplates, prompts };
  // A pipe takes the rest of what is written when it has room, and no sooner.
  process.stdout.write(JSON.stringify({ server, spoken, lists, results, bought, elicitations }), () => process.exit(0));
} catch (error) {
  console.error(error);
  process.exit(1);
}
