// A site that a language model edits as a user of its own, and the session of one: no model is needed to see it.
// Run: npm run build && npm install @modelcontextprotocol/server @modelcontextprotocol/client && node examples/agents/agents.mjs
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { basicAuth, createFileServer, rateLimit } from "filement";
import { mcp } from "filement/mcp";

const password = process.env["PASSWORD"] ?? "secret";
const files = createFileServer({
  root: process.env["ROOT"] ?? fileURLToPath(new URL("site", import.meta.url)),
  plugins: [
    basicAuth({
      users: [{ username: "agent", password, encryption: "plaintext" }],
      rules: [
        { username: "*", path: "/*", methods: ["GET"], permission: "allow" },
        { username: "agent", path: "/mcp", methods: ["POST"], permission: "allow" },
        { username: "agent", path: "/*", selector: ".editable", permission: "allow" },
      ],
    }),
    rateLimit({ requestsPerSecond: 2, burstCapacity: 60, keyStrategy: "user" }),
    mcp(),
  ],
});

const server = createServer(files);
server.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1", async () => {
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : address}`;
  console.log(`listening on ${url}`);
  await session(url);
});

/** @param {string} url */
async function session(url) {
  const authorization = `Basic ${Buffer.from(`agent:${password}`).toString("base64")}`;
  const client = new Client({ name: "example", version: "1" });
  await client.connect(
    new StreamableHTTPClientTransport(new URL("/mcp", url), { requestInit: { headers: { authorization } } }),
  );
  /** @type {(name: string, args: Record<string, unknown>) => Promise<any>} */
  const call = async (name, args) => (await client.callTool({ name, arguments: args })).structuredContent;
  const path = "/to-do.html";
  /** @type {(selector: string, text: string, more?: object) => Promise<any>} */
  const setText = (selector, text, more) => call("edit", { path, edits: [{ op: "setText", selector, text, ...more }] });

  console.log((await call("outline", { path })).outline);
  const [kite] = (await call("read", { path, selector: "#kite" })).elements;
  await Promise.all([setText("#kite", "Fly two kites"), setText("#boat", "Row a boat")]); // both are kept
  const late = await setText("#kite", "Sell the kite", { etag: kite.etag });
  console.log(`conflict: ${late.code}`);
  const again = await setText("#kite", "Sell the kite", { etag: late.now.elementTag });
  console.log(again.diff);
  console.log(`not editable: ${(await setText("#rules", "Be home at nine.")).code}`);
  await client.close();
}
