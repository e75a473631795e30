import { AsyncLocalStorage } from "node:async_hooks";
import { describe, expect, it } from "vitest";
import type { FileServerConfig } from "../../src/config.ts";
import { HttpError } from "../../src/http/http-error.ts";
import { directory } from "../../src/plugins/directory.ts";
import { eventStream } from "../../src/plugins/event-stream.ts";
import { type GuardedRequest, guard } from "../../src/plugins/guard.ts";
import { permissions } from "../../src/plugins/permissions.ts";
import { webSocket } from "../../src/plugins/web-socket.ts";
import type { Exchange } from "../../src/server/exchange.ts";
import type { Plugin } from "../../src/server/plugin.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { connectLive, type Inbox, refusedLive } from "../helpers/live-client.ts";
import { send } from "../helpers/send.ts";
import { type Served, serve } from "../helpers/serve.ts";
import { namesIn } from "../helpers/unzip.ts";

/** The async context of each request. */
const context = new AsyncLocalStorage<Exchange>();

/** Knows users by a header of their own. */
const byHeader: Plugin = {
  name: "by-header",
  handle(exchange, next) {
    const name = exchange.headers["x-user"]?.toString();
    if (name !== undefined) exchange.user = { name, roles: [] };
    return context.run(exchange, next);
  },
};
const isAda = ({ user, exchange }: GuardedRequest): boolean => user?.name === "ada" && context.getStore() === exchange;
const ada = { "x-user": "ada" };
const selectsAll = { range: "selector=p" };

/** A host with everything that tells of files besides the files themselves. */
function talkative(guarding: Plugin, config: FileServerConfig = {}): Promise<Served> {
  const storage = memoryStorage({ "/a.html": "<p>a", "/private/b.html": "<p>secret" });
  const plugins = [byHeader, guarding, webSocket(), eventStream()];
  return serve({ storage, plugins, listing: { zip: true }, ...config });
}

describe("guard", () => {
  it("refuses every way to what it covers, for each method, by selector, and in every spelling of the path", async () => {
    const { url } = await talkative(guard({ covers: ["/private/*"], permits: isAda }));
    for (const target of ["/private/b.html", "/%70rivate/b.html", "//private/b.html", "/x/../private/b.html"]) {
      expect((await send(url, "GET", target)).status).toBe(403);
      expect((await send(url, "GET", target, { headers: selectsAll })).status).toBe(403);
      expect((await send(url, "GET", target, { headers: ada })).status).toBe(200);
    }
    for (const method of ["HEAD", "PUT", "POST", "DELETE", "OPTIONS"]) {
      expect((await send(url, method, "/private/b.html", { body: "x" })).status).toBe(403);
      expect((await send(url, method, "/private/none", { body: "x" })).status).toBe(403);
    }
    expect((await send(url, "GET", "/a.html")).status).toBe(200);
    expect((await send(url, "GET", "/private/b.html", { headers: ada })).text).toBe("<p>secret");
  });

  it("covers the content of a page also where that lies beside it in a coding", async () => {
    const storage = memoryStorage({ "/a.html": "a", "/a.html.gz": "a", "/b.html.br": "b" });
    const { url } = await talkative(guard({ covers: ["/a.html"] }), { storage });
    expect((await send(url, "GET", "/a.html.gz")).status).toBe(403);
    expect((await send(url, "PUT", "/a.html.br", { body: "x" })).status).toBe(403);
    expect((await send(url, "GET", "/b.html.br")).status).toBe(200);
  });

  it("keeps what it covers out of listings and archives", async () => {
    const { url } = await talkative(guard({ covers: ["/private/*"], permits: isAda }));
    const json = { accept: "application/json" };
    expect((await send(url, "GET", "/", { headers: json })).text).not.toContain("private");
    expect((await send(url, "GET", "/", { headers: { ...json, ...ada } })).text).toContain("private");
    expect(await namesIn((await send(url, "GET", "/?zip")).bytes)).toEqual(["Home/", "Home/a.html"]);
    expect(await namesIn((await send(url, "GET", "/?zip", { headers: ada })).bytes)).toContain("Home/private/b.html");
  });

  it("keeps changes of what it covers from web sockets", async () => {
    const { url } = await talkative(guard({ covers: ["/private/*"], permits: isAda }));
    const [stranger, friend] = [await connectLive(url, "/ws"), await connectLive(url, "/ws", { headers: ada })];
    expect((await refusedLive(url, "/private/b.html", { protocols: ["stream-item"] })).status).toBe(403);
    await send(url, "PUT", "/private/b.html", { headers: { ...ada, ...selectsAll }, body: "<p>new" });
    await send(url, "PUT", "/a.html", { body: "<p>b" });
    const heard = async (inbox: Inbox): Promise<unknown[]> => (await inbox.take(2)).map(({ path }) => path);
    expect(await heard(stranger.inbox)).toEqual([undefined, "/a.html"]); // after the greeting
    expect(await heard(friend.inbox)).toEqual([undefined, "/private/b.html"]);
  });

  it("offers what it permits, and nothing else, in reply to OPTIONS", async () => {
    const readOnly = guard({
      covers: (path) => path.startsWith("/private/"),
      permits: ({ right }) => right === "read",
    });
    const { url } = await talkative(readOnly);
    expect((await send(url, "OPTIONS", "/private/b.html")).headers.allow).toBe("GET, HEAD, COPY, OPTIONS");
    expect((await send(url, "DELETE", "/private/b.html")).status).toBe(403);
  });

  it("refuses all paths to all clients where it is told nothing else", async () => {
    const { url } = await talkative(guard());
    expect((await send(url, "GET", "/a.html", { headers: ada })).status).toBe(403);
    expect((await send(url, "GET", "/events")).status).toBe(403);
  });

  it("adds to the rules of a plugin before it, and answers as that does: 401 to those who could sign in", async () => {
    const user = ({ headers }: Exchange) => (headers["x-user"] === undefined ? undefined : { name: "ada" });
    const rules = [{ username: "*", path: "/*", permission: "allow" as const }];
    const storage = memoryStorage({ "/private/b.txt": "b" });
    const guarding = guard({
      covers: ["/private/*"],
      permits: ({ user, right }) => user !== undefined && right === "read",
    });
    const { url } = await serve({ storage, plugins: [permissions({ user, rules }), guarding] });
    expect((await send(url, "GET", "/private/b.txt")).status).toBe(401);
    expect((await send(url, "GET", "/private/b.txt", { headers: ada })).status).toBe(200);
    expect((await send(url, "DELETE", "/private/b.txt", { headers: ada })).status).toBe(403);
  });

  it("refuses in its own words where it has some, and only what it refuses itself", async () => {
    const rules = [
      { username: "*", path: "/*", permission: "allow" },
      { username: "*", path: "/closed/*", permission: "deny" },
    ] as const;
    const refusal = () => new HttpError(404, "NOT_FOUND", "There is no such file or directory.");
    const storage = memoryStorage({ "/private/b.txt": "b" });
    const { url } = await serve({
      storage,
      plugins: [permissions({ rules }), guard({ covers: ["/private/*"], refusal })],
    });
    expect((await send(url, "GET", "/private/b.txt")).status).toBe(404);
    expect((await send(url, "GET", "/closed/b.txt")).status).toBe(401);
  });

  it("keeps what it guards in a directory from clients that connected elsewhere", async () => {
    const within = directory({ directory: "/private", plugins: [guard({ permits: isAda })] });
    const { url } = await talkative(within);
    const { inbox } = await connectLive(url, "/ws", { headers: ada });
    await send(url, "PUT", "/private/b.html", { headers: ada, body: "<p>new" });
    await send(url, "PUT", "/a.html", { body: "<p>b" });
    expect((await inbox.take(2)).map(({ path }) => path)).toEqual([undefined, "/a.html"]);
  });

  it("fails, and permits nothing, where its function gives a promise", async () => {
    const errors: unknown[] = [];
    const later = guard({ permits: (async () => true) as never });
    const { url } = await talkative(later, { onError: (error) => errors.push(error) });
    expect((await send(url, "GET", "/a.html")).status).toBe(500);
    expect(errors).toMatchObject([{ message: "guard: permits() gave object: expected true or false, at once" }]);
  });

  it("names each option that cannot work", () => {
    expect(() => guard({ covers: ["private"], permits: true } as never)).toThrow(
      /guard: covers .*expected a list of path patterns, or a function; guard: permits is true: expected a function/,
    );
  });
});

describe("a plugin that refuses to read a path by throwing", () => {
  const refusing: Plugin = {
    name: "no-entry",
    handle(exchange, next) {
      if (exchange.path.startsWith("/private/")) throw new HttpError(403, "FORBIDDEN", "No.");
      return next();
    },
  };

  async function warningsOf(config: FileServerConfig): Promise<string[]> {
    const warnings: string[] = [];
    const warn = (_fields: object, message: string) => void warnings.push(message);
    const logger = { debug() {}, info() {}, error() {}, warn };
    const storage = memoryStorage({ "/private/b.html": "<p>secret" });
    const { url } = await serve({ storage, readOnly: true, logger, ...config });
    for (let i = 0; i < 2; i += 1) expect((await send(url, "GET", "/private/b.html")).status).toBe(403);
    return warnings;
  }

  it("is named once in the log of a host whose feeds and archives tell of it all the same", async () => {
    const plugins = [refusing, eventStream()];
    expect(await warningsOf({ plugins, listing: { zip: true } })).toEqual([
      'plugin "no-entry" refused /private/b.html in its own way, which event-stream, archives do not follow: use guard',
    ]);
  });

  it("is not where nothing tells, nor where it goes through the rights", async () => {
    expect(await warningsOf({ plugins: [refusing] })).toEqual([]);
    expect(await warningsOf({ plugins: [guard({ covers: ["/private/*"] }), eventStream()] })).toEqual([]);
  });
});
