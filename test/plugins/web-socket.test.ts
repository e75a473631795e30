import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { WebSocket } from "ws";
import type { FileServerConfig } from "../../src/config.ts";
import { createFileServer } from "../../src/file-server.ts";
import { basicAuth } from "../../src/plugins/basic-auth.ts";
import { directory } from "../../src/plugins/directory.ts";
import { eventStream } from "../../src/plugins/event-stream.ts";
import { guard } from "../../src/plugins/guard.ts";
import { permissions } from "../../src/plugins/permissions.ts";
import { type WebSocketOptions, webSocket } from "../../src/plugins/web-socket.ts";
import type { NewChange } from "../../src/server/change-feed.ts";
import type { Exchange } from "../../src/server/exchange.ts";
import type { ConnectedClient, Plugin } from "../../src/server/plugin.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { fastClock } from "../helpers/fast-clock.ts";
import { gate } from "../helpers/gate.ts";
import { connectLive, Inbox, publish, refusedLive } from "../helpers/live-client.ts";
import { send } from "../helpers/send.ts";
import { openSocket, type Served, serve } from "../helpers/serve.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

const page = '<!doctype html><title>T</title><p id="one">one</p><p id="two">two</p>';
const plain = { username: "ada", password: "secret", encryption: "plaintext" } as const;
const asAda = { headers: { authorization: `Basic ${Buffer.from("ada:secret").toString("base64")}` } };

function serveLive(options: WebSocketOptions = {}, config: Partial<FileServerConfig> = {}): Promise<Served> {
  const storage = memoryStorage({ "/a.html": page, "/docs/b.txt": "b", "/index.html": page });
  return serve({ storage, plugins: [webSocket(options)], ...config });
}

/** A plugin that shows the connections that later ones have taken over. */
function takenOver(): { plugin: Plugin; taken: Duplex[] } {
  const taken: Duplex[] = [];
  const plugin: Plugin = {
    name: "taken-over",
    async handle(_exchange, next) {
      const reply = await next();
      const { accept } = reply;
      if (!accept) return reply;
      return {
        ...reply,
        accept(socket, head) {
          taken.push(socket);
          accept(socket, head);
        },
      };
    },
  };
  return { plugin, taken };
}

/** Has the plugin look at its clients when the test says so, and not as time passes. */
function heldPings(): () => void {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  return () => vi.runOnlyPendingTimers();
}

/** Waits until the server has read what a client has sent so far, its answer to a ping included. */
async function untilRead(socket: WebSocket): Promise<void> {
  socket.ping();
  await once(socket, "pong");
}

function repeat(times: number, task: () => void): void {
  for (let i = 0; i < times; i += 1) task();
}

describe("webSocket", () => {
  it("greets with the feed and its last id, and then tells of each change in one JSON message", async () => {
    const { url, files } = await serveLive();
    const { inbox } = await connectLive(url, "/ws");
    expect(await inbox.next()).toEqual({ type: "hello", feed: files.changes.name, id: 0 });
    const headers = { range: "selector=#one", "x-request-id": "request-1" };
    await send(url, "PUT", "/a.html", { headers, body: '<p id="one">1 ü</p>' });
    const change = await inbox.next();
    expect(change).toEqual({
      type: "change",
      id: 1,
      kind: "elements-replaced",
      method: "PUT",
      host: "127.0.0.1",
      path: "/a.html",
      selector: "#one",
      matches: 1,
      html: '<p id="one">1 ü</p>',
      etag: expect.stringMatching(/^"/),
      requestId: "request-1",
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    });
    expect(Object.keys(change)[0]).toBe("type");
  });

  it("tells all kinds of changes, in the order of the commits", async () => {
    const { url } = await serveLive();
    const { inbox } = await connectLive(url, "/ws");
    const range = { range: "selector=#one" };
    await send(url, "PUT", "/new.txt", { body: "1" });
    await send(url, "PUT", "/new.txt", { body: "2" });
    await send(url, "POST", "/new.txt", { body: "3" });
    await send(url, "DELETE", "/new.txt");
    await send(url, "POST", "/a.html", { headers: range, body: "<b>x</b>" });
    await send(url, "PUT", "/a.html", { headers: range, body: "<p id=one>y</p>" });
    await send(url, "DELETE", "/a.html", { headers: range });
    const messages = (await inbox.take(8)).slice(1);
    expect(messages.map(({ id, kind, method }) => [id, kind, method])).toEqual([
      [1, "created", "PUT"],
      [2, "replaced", "PUT"],
      [3, "appended", "POST"],
      [4, "deleted", "DELETE"],
      [5, "elements-appended", "POST"],
      [6, "elements-replaced", "PUT"],
      [7, "elements-deleted", "DELETE"],
    ]);
    expect(Object.keys(messages[3] ?? {}).join()).toBe("type,id,kind,method,host,path,requestId,time");
  });

  it("sends messages of every length whole", async () => {
    const served = await serveLive();
    const { inbox } = await connectLive(served.url, "/ws");
    await inbox.next();
    for (const length of [0, 1, 60, 125, 126, 127, 65_000, 65_535, 65_536, 200_000]) {
      const change = { kind: "replaced", method: "PUT", host: "h", path: "/a.html", requestId: "r" } as const;
      served.files.changes.publish({ ...change, html: "é".repeat(length) } as NewChange, { site: "*" });
      expect((await inbox.next())["html"]).toBe("é".repeat(length));
    }
  });

  describe("the query", () => {
    it.each([
      ["/docs/", ["/docs/b.txt", "/docs/x/c.txt", "/docs"]],
      ["/docs", ["/docs/b.txt", "/docs/x/c.txt", "/docs"]],
      ["/docs/b.txt", ["/docs/b.txt"]],
      ["%2Fdocs%2Fx%2F", ["/docs/x/c.txt"]],
      ["/", ["/docs/b.txt", "/a.html", "/docsette/d.txt", "/docs/x/c.txt", "/docs", "/end"]],
    ])("?path=%s narrows to a directory and all below it, or to a file", async (path, heard) => {
      const served = await serveLive();
      const { inbox } = await connectLive(served.url, `/ws?path=${path}`);
      const all = await connectLive(served.url, "/ws");
      publish(served, "/docs/b.txt", "/a.html", "/docsette/d.txt", "/docs/x/c.txt", "/docs", "/end");
      await all.inbox.take(7);
      const messages = await inbox.take(heard.length + 1);
      expect(messages.slice(1).map((message) => message.path)).toEqual(heard);
      await served.files.close(); // whatever else was sent comes before the end
      await all.closed;
      expect(inbox.all).toHaveLength(heard.length + 1);
    });

    it("?since= replays what came after that id, and goes on with what comes", async () => {
      const served = await serveLive();
      publish(served, "/1", "/2", "/3", "/4");
      const { inbox } = await connectLive(served.url, `/ws?since=2&feed=${served.files.changes.name}`);
      publish(served, "/5");
      const messages = await inbox.take(4);
      expect(messages[0]).toMatchObject({ type: "hello", id: 4 });
      expect(messages.slice(1).map(({ id, path }) => [id, path])).toEqual([
        [3, "/3"],
        [4, "/4"],
        [5, "/5"],
      ]);
    });

    it.each([
      ["of the future", "since=4"],
      ["of another feed", "since=2&feed=another"],
      ["of a feed without a name", "since=2&feed="],
      ["of long ago", "since=1", 1_500],
    ])("?since= of an id %s is a gap, after which changes go on", async (_what, query, more = 0) => {
      const served = await serveLive();
      publish(served, "/1", "/2", "/3", ...Array.from({ length: more }, () => "/more"));
      const { inbox } = await connectLive(served.url, `/ws?${query}`);
      expect((await inbox.take(2))[1]).toEqual({ type: "gap" });
      publish(served, "/next");
      expect(await inbox.next()).toMatchObject({ id: 4 + more, path: "/next" });
    });

    it.each([
      "since=-1",
      "since=1e3",
      "since=",
      "since=1&since=2",
      "feed=a&feed=b",
      "path=docs",
      "path=/a//b",
      "path=/%00",
    ])("?%s is refused before the connection is taken over", async (query) => {
      const { url } = await serveLive();
      expect(await refusedLive(url, `/ws?${query}`)).toMatchObject({ status: 400, code: "INVALID_QUERY" });
    });
  });

  describe("stream items", () => {
    it("come at the path of the plugin to those who ask for the subprotocol", async () => {
      const { url } = await serveLive();
      const { socket, texts } = await connectLive(url, "/ws", { protocols: ["other", "stream-item"] });
      expect(socket.protocol).toBe("stream-item");
      await send(url, "DELETE", "/a.html", { headers: { range: "selector=p#one" } });
      expect(await texts.next()).toBe(
        '<div itemscope itemtype="http://rustybeam.net/StreamItem"><span itemprop="method">DELETE</span>' +
          '<span itemprop="url">/a.html</span><span itemprop="selector">p#one</span></div>',
      );
    });

    it("come at a document's own URL, of that document only", async () => {
      const { url } = await serveLive();
      const { socket, texts } = await connectLive(url, "/a.html?lang=en&since=x");
      expect(socket.protocol).toBe("");
      await send(url, "PUT", "/docs/b.txt", { body: "not heard of" });
      await send(url, "PUT", "/a.html", { headers: { range: "selector=#one" }, body: "<p id=one>&lt;</p>" });
      expect(await texts.next()).toContain('<template itemprop="content"><p id=one>&lt;</p></template>');
    });

    it("come at a document's URL whatever subprotocol is offered", async () => {
      const { url } = await serveLive();
      const offering = async (...protocols: string[]): Promise<string> =>
        (await connectLive(url, "/a.html", { protocols })).socket.protocol;
      expect(await offering("a", "b")).toBe("a");
      expect(await offering("a", "stream-item")).toBe("stream-item");
    });

    it("cannot be replayed, for they have no ids", async () => {
      const { url } = await serveLive();
      const refused = await refusedLive(url, "/ws?since=0", { protocols: ["stream-item"] });
      expect(refused).toMatchObject({ status: 400, code: "INVALID_QUERY" });
    });

    it("do not come at what is no document", async () => {
      const { url } = await serveLive();
      expect(await refusedLive(url, "/docs/b.txt")).toMatchObject({ status: 404, code: "NOT_FOUND" });
      const noIndex = await serveLive({}, { index: false });
      expect(await refusedLive(noIndex.url, "/")).toMatchObject({ status: 404, code: "NOT_FOUND" });
    });
  });

  describe("what a client may not read", () => {
    const rules = [
      { username: "*", path: "/*", rights: ["read", "list"], permission: "allow" },
      { username: "*", path: "/secret/*", permission: "deny" },
      { username: "ada", path: "/*", permission: "allow" },
    ] as const;

    it("is not told", async () => {
      const served = await serveLive({}, { plugins: [basicAuth({ users: [plain], rules }), webSocket()] });
      const anyone = await connectLive(served.url, "/ws");
      const ada = await connectLive(served.url, "/ws", asAda);
      publish(served, "/secret/1", "/2");
      expect((await ada.inbox.take(3)).map(({ path }) => path)).toEqual([undefined, "/secret/1", "/2"]);
      expect((await anyone.inbox.take(2)).map(({ path }) => path)).toEqual([undefined, "/2"]);
    });

    it("is not replayed", async () => {
      const served = await serveLive({}, { plugins: [basicAuth({ users: [plain], rules }), webSocket()] });
      publish(served, "/secret/1", "/2");
      const anyone = await connectLive(served.url, "/ws?since=0");
      expect((await anyone.inbox.take(2)).map(({ path }) => path)).toEqual([undefined, "/2"]);
    });

    it("is not told by elements", async () => {
      const byElements = [
        { username: "*", path: "/ws", permission: "allow" },
        { username: "*", path: "/a.html", selector: "#two", rights: ["read"], permission: "allow" },
        { username: "ada", path: "/*", permission: "allow" },
      ] as const;
      const plugins = [basicAuth({ users: [plain], rules: byElements }), webSocket()];
      const { url } = await serveLive({}, { plugins });
      const { inbox } = await connectLive(url, "/ws");
      const change = async (selector: string): Promise<number> => {
        const headers = { ...asAda.headers, range: `selector=${selector}` };
        return (await send(url, "POST", "/a.html", { headers, body: "!" })).status;
      };
      expect([await change("#one"), await change("#two"), await change("p"), await change("#two")]).toEqual([
        206, 206, 206, 206,
      ]);
      expect((await inbox.take(3)).slice(1).map(({ id, selector }) => [id, selector])).toEqual([
        [2, "#two"],
        [4, "#two"],
      ]);
      // Which elements those were is not remembered.
      const late = await connectLive(url, "/ws?since=0");
      const told = (await late.inbox.take(5)).slice(1);
      expect(told.map(({ id }) => id)).toEqual([1, 2, 3, 4]);
      const ofAll = ["host", "id", "kind", "method", "path", "requestId", "time", "type"];
      for (const message of told) expect(Object.keys(message).sort()).toEqual(ofAll);
      // Nor is there anything for who may see nothing of it.
      const elsewhere = await connectLive(url, "/ws?since=0&path=/docs/");
      await change("#two");
      expect((await late.inbox.next()).id).toBe(5);
      const elementsOnly = await refusedLive(url, "/a.html", { headers: { range: "selector=#two" } });
      expect(elementsOnly.status).toBe(401);
      expect(elsewhere.inbox.all.map(({ type }) => type)).toEqual(["hello"]);
    });

    it("is not told by what an edit put there", async () => {
      const noSecret = [
        { username: "*", path: "/*", permission: "allow" },
        { username: "*", path: "/*", selector: ".secret", permission: "deny" },
        { username: "ada", path: "/*", permission: "allow" },
      ] as const;
      const { url } = await serveLive({}, { plugins: [basicAuth({ users: [plain], rules: noSecret }), webSocket()] });
      const { inbox } = await connectLive(url, "/ws");
      const put = (selector: string, body: string) =>
        send(url, "PUT", "/a.html", { headers: { ...asAda.headers, range: `selector=${selector}` }, body });
      expect((await put("#one", '<p id="one" class="secret">1234</p>')).status).toBe(206);
      expect((await put("#two", '<p id="two">open</p>')).status).toBe(206);
      expect((await put("#one", '<p id="one">no longer secret</p>')).status).toBe(206);
      expect((await put("#two", '<p id="two">open still</p>')).status).toBe(206);
      const messages = (await inbox.take(3)).slice(1);
      expect(messages.map(({ id, html }) => [id, html])).toEqual([
        [2, '<p id="two">open</p>'],
        [4, '<p id="two">open still</p>'],
      ]);
    });

    it("is not told any more to a user who was removed, and whose connection then ends", async () => {
      const ping = heldPings();
      const authfile = join(await temporaryDirectory(), "users");
      const line = (name: string): string => `${name}:$2b$04$SlybQL2Y.e6Vlf6d8LrFEu4Tf1gvGriS/pPiRl/KBrieges1J2.U6\n`;
      const asBob = { headers: { authorization: `Basic ${btoa("bob:secret")}` } };
      await writeFile(authfile, line("ada") + line("bob"));
      const { url } = await serveLive({}, { plugins: [basicAuth({ authfile }), webSocket()] });
      const bob = await connectLive(url, "/ws", asBob);
      const put = (path: string) => send(url, "PUT", path, { ...asAda, body: "1" });
      expect((await put("/1.txt")).status).toBe(201);
      expect((await bob.inbox.take(2))[1]).toMatchObject({ path: "/1.txt" });
      await writeFile(authfile, line("ada"));
      while ((await send(url, "GET", "/a.html", asBob)).status !== 401) vi.advanceTimersByTime(500); // looks at the file
      expect((await put("/2.txt")).status).toBe(201);
      ping();
      expect(await bob.closed).toEqual([1008, "no longer permitted"]);
      expect(bob.inbox.all.map(({ path }) => path)).toEqual([undefined, "/1.txt"]);
    });

    it("is not told any more to a user whose session the application ended", async () => {
      const ping = heldPings();
      const sessions = new Map([["b", { name: "bob" }]]);
      const user = async ({ headers }: Exchange) => sessions.get(String(headers["x-session"]));
      const asBob = { headers: { "x-session": "b" } };
      const rules = [
        { username: "*", path: "/public/*", permission: "allow" },
        { username: ":signed-in", path: "/*", permission: "allow" },
      ] as const;
      const isBob = guard({ covers: ["/public/bob.txt"], permits: ({ user }) => user?.name === "bob" });
      const plugins = [permissions({ user, rules }), isBob, webSocket({ path: "/public/ws" })];
      const { url } = await serveLive({}, { plugins });
      sessions.set("a", { name: "ada" });
      const put = (path: string) => send(url, "PUT", path, { headers: { "x-session": "b" }, body: "1" });
      const bob = await connectLive(url, "/public/ws", asBob);
      expect((await put("/1.txt")).status).toBe(201);
      expect((await put("/public/bob.txt")).status).toBe(201);
      expect((await bob.inbox.take(3)).map(({ path }) => path)).toEqual([undefined, "/1.txt", "/public/bob.txt"]);
      sessions.set("c", { name: "bob" });
      sessions.delete("b");
      const now = performance.now.bind(performance);
      const spy = vi.spyOn(performance, "now").mockImplementation(() => now() + 5_000);
      onTestFinished(() => spy.mockRestore());
      ping(); // the application is asked again
      await untilRead(bob.socket);
      const again = { headers: { "x-session": "c" }, body: "2" };
      for (const path of ["/1.txt", "/public/bob.txt"]) expect((await send(url, "PUT", path, again)).status).toBe(200);
      expect((await send(url, "PUT", "/public/2.txt", again)).status).toBe(201);
      expect((await bob.inbox.next()).path).toBe("/public/2.txt"); // as anybody hears it
    });

    it("ends at once for those whom the program disconnects", async () => {
      const user = ({ headers }: Exchange) => ({ name: String(headers["x-user"]) });
      const plugins = [permissions({ user }), webSocket(), eventStream()];
      const { url, files } = await serveLive({}, { plugins });
      const bob = { "x-user": "bob" };
      const socket = await connectLive(url, "/ws", { headers: bob });
      const other = await connectLive(url, "/ws", { headers: { "x-user": "ada" } });
      const stream = await fetch(`${url}/events`, { headers: bob });
      const isBob = (client: ConnectedClient): boolean =>
        client.user?.name === "bob" && client.exchange.headers["x-user"] === "bob";
      expect(files.disconnect(isBob)).toBe(2);
      expect(await socket.closed).toEqual([1008, "no longer permitted"]);
      expect(await stream.text()).toContain("event: hello"); // whole: its end is no failure
      expect((await send(url, "PUT", "/1.txt", { headers: bob, body: "1" })).status).toBe(201);
      expect((await other.inbox.take(2))[1]).toMatchObject({ path: "/1.txt" });
    });

    it("is not told at a path where the authentication of another was not asked", async () => {
      const auth = basicAuth({ users: [plain] });
      const plugins = [directory({ directory: "/docs", plugins: [auth] }), webSocket()];
      const served = await serveLive({}, { plugins });
      const { inbox } = await connectLive(served.url, "/ws", asAda);
      publish(served, "/docs/b.txt", "/a.html");
      expect((await inbox.take(2))[1]).toMatchObject({ path: "/a.html" });
    });

    it("keeps a client out of the path of the plugin, and of documents", async () => {
      const auth = basicAuth({
        users: [plain],
        rules: [
          { username: "ada", path: "/*", permission: "allow" },
          { username: "*", path: "/open/*", permission: "allow" },
          { username: "*", path: "/ws", rights: ["create"], permission: "allow" },
        ],
      });
      const { url } = await serveLive({}, { plugins: [auth, webSocket()] });
      expect(await refusedLive(url, "/ws")).toMatchObject({ status: 401, code: "UNAUTHORIZED" });
      expect(await refusedLive(url, "/a.html")).toMatchObject({ status: 401, code: "UNAUTHORIZED" });
      await connectLive(url, "/open/page.html");
      await connectLive(url, "/a.html", asAda);
    });

    it("keeps the server from starting where clients would not be known", async () => {
      const files = createFileServer({
        storage: memoryStorage(),
        plugins: [webSocket(), basicAuth({ users: [plain] })],
      });
      await expect(files.ready()).rejects.toThrow("webSocket stands before the authentication: expected it behind");
    });

    it("is a gap where the decision fails, which is reported", async () => {
      const failing: Plugin = {
        name: "failing",
        handle(exchange, next) {
          const { access } = exchange;
          exchange.access = {
            ...access,
            permitsPath(_right, path) {
              if (path === "/a.html") throw new Error("no decision");
              return true;
            },
          };
          return next();
        },
      };
      const reported: unknown[] = [];
      const served = await serveLive({}, { plugins: [failing, webSocket()], onError: (error) => reported.push(error) });
      const { inbox } = await connectLive(served.url, "/ws");
      publish(served, "/a.html", "/b.html");
      expect((await inbox.take(3)).slice(1)).toMatchObject([{ type: "gap" }, { path: "/b.html" }]);
      expect(reported).toEqual([new Error("no decision")]);
    });
  });

  it("tells clients of a host nothing of others", async () => {
    const plugin = webSocket();
    const host = (name: string) => ({ storage: memoryStorage({ [`/${name}.txt`]: "" }), plugins: [plugin] });
    const { url } = await serve({
      hosts: { "a.example": { ...host("a"), aliases: ["alias.example"] }, "b.example": host("b") },
    });
    const a = await connectLive(url, "/ws", { headers: { host: "a.example" } });
    const b = await connectLive(url, "/ws", { headers: { host: "b.example" } });
    await send(url, "PUT", "/x.txt", { headers: { host: "b.example" }, body: "1" });
    await send(url, "PUT", "/x.txt", { headers: { host: "alias.example" }, body: "1" });
    expect((await a.inbox.take(2))[1]).toMatchObject({ id: 2, host: "alias.example" });
    expect((await b.inbox.take(2))[1]).toMatchObject({ id: 1, host: "b.example" });
    const late = await connectLive(url, "/ws?since=0", { headers: { host: "b.example" } });
    await send(url, "PUT", "/x.txt", { headers: { host: "b.example" }, body: "2" });
    expect((await late.inbox.take(3)).map(({ id }) => id)).toEqual([2, 1, 3]);
  });

  describe("a client that", () => {
    it("does not answer pings is disconnected", async () => {
      const ping = heldPings();
      const { url } = await serveLive();
      const { closed } = await connectLive(url, "/ws", { autoPong: false });
      ping();
      ping();
      expect(await closed).toEqual([1006, ""]);
    });

    it("answers pings stays", async () => {
      const ping = heldPings();
      const served = await serveLive();
      const { socket, inbox } = await connectLive(served.url, "/ws");
      await inbox.next();
      for (let i = 0; i < 3; i += 1) {
        const pinged = once(socket, "ping");
        ping();
        await pinged;
        await untilRead(socket);
      }
      publish(served, "/1");
      expect(await inbox.next()).toMatchObject({ id: 1 });
    });

    it("does not read is disconnected, while others go on", async () => {
      const { plugin, taken } = takenOver();
      const served = await serveLive({}, { plugins: [plugin, webSocket()] });
      const slow = await connectLive(served.url, "/ws");
      slow.socket.pause();
      const quick = await connectLive(served.url, "/ws");
      await quick.inbox.next();
      const change = { kind: "replaced", method: "PUT", host: "h", path: "/a", requestId: "r" } as const;
      const html = "x".repeat(500_000); // less than may wait, so that only the slow one is cut off
      let published = 0;
      // How much the system takes before anything has to wait is its own affair.
      while (!taken[0]?.destroyed) {
        served.files.changes.publish({ ...change, html } as NewChange, { site: "*" });
        published += 1;
        expect((await quick.inbox.next()).id).toBe(published);
      }
      expect(taken[0]?.writableLength).toBeLessThan(2_500_000);
      slow.socket.resume();
      await slow.closed;
      expect(slow.inbox.all.length).toBeLessThan(published);
    });

    it("vanishes without a word is forgotten", async () => {
      const { plugin, taken } = takenOver();
      const served = await serveLive({}, { plugins: [plugin, webSocket({ maxClients: 1 })] });
      const { socket, inbox } = await connectLive(served.url, "/ws");
      await inbox.next();
      const refused = await refusedLive(served.url, "/ws");
      expect(refused).toMatchObject({ status: 503, code: "OVERLOADED", headers: { "retry-after": "1" } });
      socket.terminate();
      await once(taken[0] as Duplex, "close");
      publish(served, "/1");
      const next = await connectLive(served.url, "/ws");
      expect(await next.inbox.next()).toMatchObject({ id: 1 });
    });

    it.each<[string, number, (socket: WebSocket) => void]>([
      ["sends more than 1 KiB", 1009, (socket) => socket.send("x".repeat(1025))],
      ["sends bytes", 1003, (socket) => socket.send(Buffer.from("bytes"))],
      ["sends a message in very many pieces", 1008, (socket) => repeat(20, () => socket.send("", { fin: false }))],
      ["sends very many messages", 1008, (socket) => repeat(1_001, () => socket.send("x"))],
    ])("%s is disconnected with %i", async (_what, code, misbehave) => {
      const { url } = await serveLive();
      const { socket, closed } = await connectLive(url, "/ws");
      misbehave(socket);
      expect((await closed)[0]).toBe(code);
    });

    it("asks whether the server is there gets an answer", async () => {
      const { url } = await serveLive();
      const { socket, inbox } = await connectLive(url, "/ws");
      socket.send('{"type":"ping"}');
      expect((await inbox.take(2))[1]).toEqual({ type: "pong" });
    });
  });

  describe("a handshake", () => {
    it("is told its request id", async () => {
      const { port } = await serveLive();
      const socket = await openSocket(port);
      const lines = ["GET /ws HTTP/1.1", "Host: a", "Connection: Upgrade", "Upgrade: WebSocket", "X-Request-ID: my-1"];
      const key = ["Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="];
      socket.write(`${[...lines, ...key].join("\r\n")}\r\n\r\n`);
      const [head] = await once(socket, "data");
      expect(String(head)).toMatch(/^HTTP\/1.1 101 /);
      expect(String(head)).toContain("\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n");
      expect(String(head)).toContain("\r\nX-Request-ID: my-1\r\n");
    });

    it("is refused like any request by plugins before", async () => {
      const { url } = await serveLive({}, { plugins: [basicAuth({ users: [plain] }), webSocket()] });
      expect(await refusedLive(url, "/ws")).toMatchObject({ status: 401, headers: { "www-authenticate": /Basic/ } });
      await connectLive(url, "/ws", asAda);
    });

    it("is asked for where there is none", async () => {
      const { url, files } = await serveLive();
      for (const method of ["GET", "HEAD"]) {
        const { status, headers } = await send(url, method, "/ws");
        expect([status, headers["upgrade"], headers["connection"]]).toEqual([426, "websocket", "Upgrade"]);
      }
      const response = await files.fetch(new Request(`${url}/ws`));
      expect([response.status, await response.json()]).toMatchObject([
        426,
        { code: "UPGRADE_REQUIRED", details: expect.stringContaining("files.attach(server)") },
      ]);
      const { status, headers } = await send(url, "PUT", "/ws", { body: "x" });
      expect([status, headers["allow"]]).toEqual([405, "GET"]);
    });

    it("is none of its business at other paths", async () => {
      const { url } = await serveLive();
      for (const path of ["/ws/x", "/WS", "/docs/b.txt"]) {
        expect([path, (await refusedLive(url, path)).status]).toEqual([path, 404]);
      }
      expect((await send(url, "GET", "/a.html")).text).toBe(page);
    });

    it("counts among the clients while it is under way", async () => {
      const replies: (() => void)[] = [];
      const arrived = new Inbox<string>();
      const late: Plugin = {
        name: "late",
        async handle(_exchange, next) {
          const reply = await next();
          arrived.add(`${reply.status}`);
          if (reply.accept) await new Promise<void>((resolve) => replies.push(resolve));
          return reply;
        },
      };
      const { url } = await serveLive({}, { plugins: [late, webSocket({ maxClients: 1 })] });
      const first = connectLive(url, "/ws");
      expect(await arrived.next()).toBe("101");
      expect((await refusedLive(url, "/ws")).status).toBe(503);
      replies[0]?.();
      await first;
      expect((await refusedLive(url, "/ws")).status).toBe(503);
    });

    it("takes a place of its address only, so that one address cannot take all", async () => {
      const { url } = await serveLive({ maxClients: 2 }, { trustProxy: true });
      const from = (address: string) => ({ headers: { "x-forwarded-for": address } });
      await connectLive(url, "/ws", from("2001:db8::1"));
      const second = await refusedLive(url, "/ws", from("2001:db8::2"));
      expect(second).toMatchObject({ status: 503, code: "OVERLOADED" });
      await connectLive(url, "/ws", from("192.0.2.1"));
    });
  });

  describe("a server that closes", () => {
    it("lets its clients go when another server takes over, whatever is still in flight", async () => {
      fastClock();
      const plugin = webSocket();
      const { plugin: held, entered, release } = gate();
      const served = await serveLive({}, { plugins: [held, plugin] });
      const { closed } = await connectLive(served.url, "/ws");
      const answered = send(served.url, "GET", "/slow");
      await entered;
      plugin.drain?.();
      expect(await closed).toEqual([1001, "the server is closing"]);
      release();
      await answered;
    });

    it("says so to its clients, after the changes that were in flight", async () => {
      const { plugin, entered, release } = gate();
      const change: Plugin = {
        name: "change",
        async handle(exchange, next) {
          const reply = await next();
          if (exchange.path === "/slow") exchange.changed({ kind: "created", path: "/slow" });
          return reply;
        },
      };
      const served = await serveLive({}, { plugins: [change, plugin, webSocket()] });
      const { inbox, closed } = await connectLive(served.url, "/ws");
      await inbox.next();
      const answered = send(served.url, "GET", "/slow");
      await entered;
      const closing = served.files.close();
      expect(await refusedLive(served.url, "/ws")).toMatchObject({ status: 503, code: "CLOSING" });
      release();
      await answered;
      expect(await inbox.next()).toMatchObject({ path: "/slow" });
      expect(await closed).toEqual([1001, "the server is closing"]);
      await closing;
      const server = new Promise((resolve) => served.server.close(resolve));
      served.server.closeIdleConnections();
      await server;
    });

    it("does not wait for those who do not answer", async () => {
      fastClock();
      const { port, files } = await serveLive();
      const socket = await openSocket(port);
      const lines = ["GET /ws HTTP/1.1", "Host: a", "Connection: Upgrade", "Upgrade: websocket"];
      const key = ["Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="];
      socket.write(`${[...lines, ...key].join("\r\n")}\r\n\r\n`);
      await once(socket, "data");
      const ended = once(socket, "close");
      socket.resume();
      await files.close();
      await ended;
      expect(socket.destroyed).toBe(true);
    });
  });

  it("names each option that cannot work", () => {
    const problems: readonly (readonly [object, string])[] = [
      [{ path: "ws" }, 'path is "ws": expected a path as requests have it: decoded, and from the root'],
      [{ maxClients: 0 }, "maxClients is 0: expected a positive integer"],
      [{ pingInterval: 0 }, "pingInterval is 0: expected a positive number of seconds"],
      [{ paths: [] }, 'the argument has no option "paths"'],
    ];
    for (const [options, problem] of problems) expect(() => webSocket(options)).toThrow(`webSocket: ${problem}`);
    expect(() => webSocket(Object.freeze({}))).not.toThrow();
  });
});
