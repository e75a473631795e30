import { once } from "node:events";
import { describe, expect, it } from "vitest";
import type { AccessLogEntry } from "../../../src/plugins/access-log/entry.ts";
import { accessLog } from "../../../src/plugins/access-log.ts";
import { basicAuth } from "../../../src/plugins/basic-auth.ts";
import { guard } from "../../../src/plugins/guard.ts";
import { mcp } from "../../../src/plugins/mcp.ts";
import type { PermissionRule } from "../../../src/plugins/permissions/rules.ts";
import { rateLimit } from "../../../src/plugins/rate-limit.ts";
import type { Change } from "../../../src/server/change-feed.ts";
import { memoryStorage } from "../../../src/storage/memory/memory-storage.ts";
import { connectAgent } from "../../helpers/agent.ts";
import { send } from "../../helpers/send.ts";
import { openSocket, serve } from "../../helpers/serve.ts";

const page = `<!DOCTYPE html>
<title>Staff</title>
<main id="main">
<h1>Staff</h1>
<p class="editable" id="motto">We care</p> <p class="salary" id="secret-sum">4711</p>
<section id="people"><h2>People</h2><p id="mia">Mia <span class="salary" id="secret-mia">4712</span></p></section>
</main>
`;

const users = [
  { username: "agent", password: "a", encryption: "plaintext" as const },
  { username: "boss", password: "b", encryption: "plaintext" as const },
];
const mayCall: PermissionRule = { username: ":signed-in", path: "/mcp", methods: ["POST"], permission: "allow" };
const rules: readonly PermissionRule[] = [
  mayCall,
  { username: "boss", path: "/*", permission: "allow" },
  { username: "agent", path: "/*", permission: "allow" },
  { username: "agent", path: "/*", selector: ".salary", permission: "deny" },
  { username: "agent", path: "/hidden/*", permission: "deny" },
];

async function guarded(agentRules: readonly PermissionRule[] = rules) {
  const storage = memoryStorage({ "/staff.html": page, "/hidden/a.html": "<p id=hidden>4713" });
  const served = await serve({ storage, plugins: [basicAuth({ users, rules: agentRules }), mcp()] });
  return { ...served, ...(await connectAgent(served.url, "agent:a")) };
}

describe("a call of a tool, by the rules of its user", () => {
  it("has no part of a denied element in any answer", async () => {
    const { call, files } = await guarded();
    const path = "/staff.html";
    const edit = (selector: string, dryRun = false) =>
      call("edit", { path, edits: [{ op: "setText", selector, text: "x" }], dryRun });
    const answers = [
      await call("outline", { path }),
      await call("outline", { path, selector: "#people" }),
      await call("read", { path }),
      await call("read", { path, selector: ".salary" }),
      await call("read", { path, selector: "p, span" }),
      await call("read", { path, selector: "#secret-sumx" }),
      await call("find", { path: "/", text: "471" }),
      await call("find", { path: "/", selector: ".salary, #hidden" }),
      await edit("#motto", true),
      await edit(".salary", true),
      await edit("#mia", true),
      await edit("#secret-mia"),
      await call("edit", { path, edits: [{ op: "test", selector: ".salary", etag: '"x"' }] }),
      await edit("#secret-summ"),
      await call("read", { path: "/hidden/a.html" }),
    ];
    expect(JSON.stringify(answers)).not.toMatch(/471\d|secret-(?:mia|sum")|hidden"/);
    expect(answers.map(({ isError }) => isError)).toEqual([
      ...[false, false, true, false, false, true, false, false, false, true, true, true, true, true, true],
    ]);
    expect(answers[0]?.told.outline).toContain("#motto");
    expect(answers[4]?.told.elements).toHaveLength(1);
    expect(answers[8]?.told).not.toHaveProperty("diff");
    expect((await files.read(path)).content.toString()).toBe(page);
  });

  it("changes what the user may change, and shows what the user may read", async () => {
    const { call, url } = await guarded([
      mayCall,
      { username: "agent", path: "/*", selector: ".editable", permission: "allow" },
    ]);
    const path = "/staff.html";
    expect((await call("outline", { path })).told.outline).toBe("#motto p (42)");
    const changed = await call("edit", { path, edits: [{ op: "setText", selector: "#motto", text: "We do" }] });
    expect(changed.told).toMatchObject({ isWritten: true, edits: [{ matches: 1 }] });
    expect(changed.told).not.toHaveProperty("diff");
    const refused = await call("edit", { path, edits: [{ op: "setText", selector: "h1", text: "We do" }] });
    expect(refused).toMatchObject({ isError: true, told: { code: "FORBIDDEN" } });
    expect((await send(url, "GET", "/staff.html", { headers: { authorization: "Basic YWdlbnQ6YQ==" } })).status).toBe(
      403,
    );
  });

  it("needs the right to post to the endpoint, and the right password", async () => {
    const plugins = [basicAuth({ users, rules: rules.slice(1, 2) }), mcp()];
    const { url } = await serve({ storage: memoryStorage(), plugins });
    await expect(connectAgent(url, "agent:a")).rejects.toThrow(/403|Forbidden/i);
    await expect(connectAgent(url, "agent:wrong")).rejects.toThrow(/401|Unauthorized/i);
  });

  it("is judged at the path that it is about by the plugins in front, too", async () => {
    const storage = memoryStorage({ "/a.html": "<p>1", "/b.html": "<p>2" });
    const onlyA = guard({ permits: ({ path }) => path === "/mcp" || path === "/a.html" });
    const { url } = await serve({ storage, plugins: [onlyA, mcp()] });
    const { call } = await connectAgent(url);
    expect((await call("read", { path: "/a.html", selector: "p" })).isError).toBe(false);
    expect((await call("read", { path: "/b.html", selector: "p" })).isError).toBe(true);
  });
});

describe("a call of a tool", () => {
  it("is a request of its user in the log, in the feed and before a write", async () => {
    const entries: AccessLogEntry[] = [];
    const changes: Change[] = [];
    const written: unknown[] = [];
    const { url, files } = await serve({
      storage: memoryStorage({ "/staff.html": page }),
      beforeWrite: ({ kind, exchange }) => void written.push([kind, exchange.user?.name]),
      plugins: [accessLog({ write: (_line, entry) => entries.push(entry) }), basicAuth({ users, rules }), mcp()],
    });
    files.changes.subscribe((change) => void changes.push(change));
    const { call } = await connectAgent(url, "agent:a");
    await call("edit", { path: "/staff.html", edits: [{ op: "setText", selector: "#motto", text: "x" }] });
    const [patch] = entries.filter(({ method }) => method === "PATCH");
    expect(patch).toMatchObject({ user: "agent", url: "/staff.html", status: 200 });
    expect(patch?.userAgent).toMatch(/^mcp\/edit /);
    expect(changes).toMatchObject([{ kind: "elements-edited", user: "agent", method: "PATCH", requestId: patch?.id }]);
    expect(written).toEqual([["elements-edited", "agent"]]);
  });

  it("counts for the rate limit of its user", async () => {
    const storage = memoryStorage({ "/a.html": "<p>1" });
    const limit = rateLimit({ requestsPerSecond: 0.001, burstCapacity: 8 });
    const { url } = await serve({ storage, plugins: [limit, mcp()] });
    const { call } = await connectAgent(url);
    const answers = [];
    for (let count = 0; count < 2; count += 1) answers.push(await call("read", { path: "/a.html", selector: "p" }));
    const last = await call("find", { path: "/", text: "1" }).catch((error: Error) => error);
    expect(answers.map(({ isError }) => isError)).toEqual([false, false]);
    expect(last instanceof Error ? last.message : JSON.stringify(last)).toMatch(/429|RATE_LIMITED|Too many|limit/i);
  });

  it("names no path of the disk and no line of the program", async () => {
    const { call } = await guarded();
    const answers = [
      await call("read", { path: "/../../etc/passwd" }),
      await call("read", { path: "/a\0b" }),
      await call("list", { path: "/missing/" }),
      await call("write", { path: "/staff.html/x", content: "", createOnly: true }),
      await call("find", { path: "/hidden/", text: "x", after: "/staff.html" }),
      await call("move", { path: "/staff.html", to: "//evil.example/x" }),
    ];
    expect(JSON.stringify(answers)).not.toMatch(/\.ts|\.js|\bat \w+ \(|node:|\/tmp/);
    expect(answers.slice(0, 5).every(({ isError }) => isError)).toBe(true);
  });
});

const initialize = { protocolVersion: "2025-03-26", capabilities: {}, clientInfo: { name: "t", version: "1" } };
const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };

describe("a flood", () => {
  it("of calls in one batch is refused as a whole", async () => {
    const { url } = await serve({ storage: memoryStorage({ "/a.html": "<p>1" }), plugins: [mcp()] });
    const params = { name: "read", arguments: { path: "/a.html", selector: "p" } };
    const batch = (count: number) =>
      JSON.stringify(Array.from({ length: count }, (_, id) => ({ jsonrpc: "2.0", id, method: "tools/call", params })));
    const refused = await send(url, "POST", "/mcp", { headers, body: batch(1000) });
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("100")]);
    expect((await send(url, "POST", "/mcp", { headers, body: batch(101) })).status).toBe(400);
    const many = await send(url, "POST", "/mcp", { headers, body: `[${"1,".repeat(20_000)}1]` });
    expect(many.text).toContain("TOO_MANY_EDITS");
    const taken = await send(url, "POST", "/mcp", { headers, body: batch(100) });
    expect(taken.text.match(/"structuredContent"/g)).toHaveLength(100);
  });

  it("of 100 MB in one message is refused by its length", async () => {
    const { port } = await serve({ storage: memoryStorage(), plugins: [mcp()] });
    const socket = await openSocket(port);
    const fields = `Host: localhost\r\nContent-Type: application/json\r\nContent-Length: ${100 * 1024 * 1024}`;
    socket.write(`POST /mcp HTTP/1.1\r\n${fields}\r\n\r\n{`);
    const [answer] = (await once(socket, "data")) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 413 /);
  });

  it("of changes does not wait in memory for a client that never reads", async () => {
    const storage = memoryStorage({ "/a.html": "<p>1" });
    const { files, url } = await serve({ storage, plugins: [mcp()] });
    const version = "2026-07-28";
    const meta = { protocolVersion: version, clientInfo: initialize.clientInfo, clientCapabilities: {} };
    const named = Object.entries(meta).map(([name, value]) => [`io.modelcontextprotocol/${name}`, value]);
    const notifications = { resourceSubscriptions: ["filement:///a.html"] };
    const params = { notifications, _meta: Object.fromEntries(named) };
    const method = "subscriptions/listen";
    const response = await fetch(`${url}/mcp`, {
      method: "POST",
      headers: { ...headers, "mcp-protocol-version": version, "mcp-method": method },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    const connected = (): number => {
      const clients: unknown[] = [];
      files.disconnect((client) => clients.push(client) === 0);
      return clients.length;
    };
    expect([response.status, connected()]).toEqual([200, 1]);
    for (let count = 0; count < 100_000 && connected() > 0; count += 1) {
      const change = { kind: "replaced", path: "/a.html", method: "PUT", host: "*", requestId: "x" } as const;
      files.changes.publish(change, { site: "*" });
      if (count % 1000 === 0) await new Promise(setImmediate);
    }
    expect(connected()).toBe(0);
    await expect(response.text()).rejects.toThrow();
    expect((await send(url, "GET", "/a.html")).status).toBe(200);
  });

  it("of anything else than messages is refused", async () => {
    const { url } = await serve({ storage: memoryStorage(), plugins: [mcp()] });
    const message = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: initialize });
    const text = { ...headers, "content-type": "text/plain" };
    const statuses = await Promise.all([
      send(url, "GET", "/mcp"),
      send(url, "DELETE", "/mcp"),
      send(url, "PUT", "/mcp", { body: "x" }),
      send(url, "POST", "/mcp", { headers, body: "{" }),
      send(url, "POST", "/mcp", { headers: text, body: message }),
      send(url, "POST", "/mcp", { headers: { ...headers, origin: "https://evil.example" }, body: message }),
    ]);
    expect(statuses.map(({ status }) => status)).toEqual([405, 405, 405, 400, 415, 403]);
  });
});

describe("a subscription", () => {
  it("is offered over HTTP to clients of the versions of the protocol that have it there", async () => {
    const { url } = await serve({ storage: memoryStorage(), plugins: [mcp()] });
    const agents = await Promise.all([connectAgent(url, undefined, "/mcp", "auto"), connectAgent(url)]);
    const offered = agents.map(({ client }) => client.getServerCapabilities()?.resources);
    expect(offered).toEqual([true, false].map((subscribe) => ({ listChanged: false, subscribe })));
  });

  it("tells of changes of files that the user may read, and of no others", async () => {
    const { url, files } = await guarded([mayCall, { username: "agent", path: "/staff.html", permission: "allow" }]);
    const told: string[] = [];
    const { client } = await connectAgent(url, "agent:a", "/mcp", "auto");
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => void told.push(params.uri));
    const uris = ["filement:///staff.html", "filement:///hidden/a.html"];
    const subscription = await client.listen({ resourceSubscriptions: uris });
    await files.write("/hidden/a.html", "x");
    await files.edit("/staff.html", [{ op: "setText", selector: "h1", text: "x" }]);
    await expect.poll(() => told).toEqual(["filement:///staff.html"]);
    await subscription.close();
  });
});
