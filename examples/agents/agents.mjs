// A site with a history that a language model edits as a user of its own, and the session of one, without a model.
// Run: npm run build && npm install @modelcontextprotocol/server @modelcontextprotocol/client && node examples/agents/agents.mjs
import { mkdtemp } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { basicAuth, createFileServer, history, rateLimit } from "filement";
import { mcp } from "filement/mcp";

const password = process.env["PASSWORD"] ?? "secret";
const repository = process.env["REPOSITORY"] ?? (await mkdtemp(join(tmpdir(), "agents-")));
const files = createFileServer({
  root: process.env["ROOT"] ?? fileURLToPath(new URL("site", import.meta.url)),
  plugins: [
    basicAuth({
      users: [
        { username: "agent", password, encryption: "plaintext" },
        { username: "owner", password, encryption: "plaintext" },
      ],
      rules: [
        { username: "*", path: "/*", methods: ["GET"], permission: "allow" },
        { username: "agent", path: "/mcp", methods: ["POST"], permission: "allow" },
        { username: "agent", path: "/*", selector: ".editable", permission: "allow" },
        { username: "owner", path: "/*", permission: "allow" },
      ],
    }),
    rateLimit({ requestsPerSecond: 2, burstCapacity: 60, keyStrategy: "user" }),
    history({ repository }),
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

/**
 * @param {string} url
 * @param {string} name
 */
async function signedIn(url, name) {
  const authorization = `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}`;
  const client = new Client({ name: "example", version: "1" });
  await client.connect(
    new StreamableHTTPClientTransport(new URL("/mcp", url), { requestInit: { headers: { authorization } } }),
  );
  /** @type {(tool: string, args: Record<string, unknown>) => Promise<any>} */
  const call = async (tool, args) => (await client.callTool({ name: tool, arguments: args })).structuredContent;
  return { client, call };
}

/** @param {string} url */
async function session(url) {
  const { client, call } = await signedIn(url, "agent");
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

  // The owner takes the last change back: a whole file is more than the agent may write.
  const owner = await signedIn(url, "owner");
  let versions = [];
  while (versions.length < 4) {
    await pause(200); // commits follow soon, and before the first there is no history
    ({ versions = [] } = await owner.call("versions", { path }));
  }
  const [{ commit, user }] = versions;
  const undone = await owner.call("undo", { path, commit });
  console.log(`undone, of ${user}: ${undone.etag !== undefined}`);
  await owner.client.close();
}
