import { once } from "node:events";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { createFileServer } from "../../src/file-server.ts";
import { HttpError } from "../../src/http/http-error.ts";
import { distinctPlugins, isEverywhere, listPlugins } from "../../src/server/pipeline.ts";
import type { Next, Plugin } from "../../src/server/plugin.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";

const ok: Plugin = { name: "ok", handle: () => ({ status: 200, headers: {}, body: "ok" }) };

async function ask(plugins: readonly Plugin[], onError: (error: unknown) => void = () => {}): Promise<Response> {
  const files = createFileServer({ storage: memoryStorage(), plugins, onError });
  return files.fetch(new Request("http://localhost/x"));
}

describe("the pipeline", () => {
  it("runs the plugins in order and unwinds them in reverse", async () => {
    const log: string[] = [];
    const noting = (name: string): Plugin => ({
      name,
      async handle(_exchange, next) {
        log.push(`${name} in`);
        const reply = await next();
        log.push(`${name} out`);
        return reply;
      },
    });
    await ask([noting("a"), noting("b"), ok]);
    expect(log).toEqual(["a in", "b in", "b out", "a out"]);
  });

  it("lets a plugin change the reply on its way back", async () => {
    const stamp: Plugin = {
      name: "stamp",
      async handle(_exchange, next) {
        const reply = await next();
        return { ...reply, headers: { ...reply.headers, "x-stamp": "1" } };
      },
    };
    const response = await ask([stamp, ok]);
    expect(response.headers.get("x-stamp")).toBe("1");
    expect(await response.text()).toBe("ok");
  });

  it("turns an HttpError that a plugin throws into its reply, which earlier plugins see pass", async () => {
    const seen: (string | undefined)[] = [];
    const watching: Plugin = {
      name: "watching",
      async handle(_exchange, next) {
        const reply = await next();
        seen.push(reply.error?.code);
        return reply;
      },
    };
    const refusing: Plugin = {
      name: "refusing",
      handle: () => Promise.reject(new HttpError(403, "FORBIDDEN", "No.")),
    };
    const response = await ask([watching, refusing]);
    expect(response.status).toBe(403);
    expect(seen).toEqual(["FORBIDDEN"]);
  });

  it.each([
    ["awaits both calls", (next: Next) => next().then(() => next())],
    ["swallows the second failure", (next: Next) => next().then(() => next().catch(() => {}))],
    ["awaits neither call", async (next: Next) => void [next(), next().catch(() => {})]],
  ])("answers 500 when a plugin calls next() twice and %s", async (_how, callTwice) => {
    const reported: unknown[] = [];
    const twice: Plugin = {
      name: "twice",
      async handle(_exchange, next) {
        await callTwice(next);
        return { status: 200, headers: {} };
      },
    };
    const response = await ask([twice, ok], (error) => reported.push(error));
    expect(response.status).toBe(500);
    expect(String(reported[0])).toContain('plugin "twice" called next() more than once');
  });

  it("releases the content of a reply that a plugin dropped for its own", async () => {
    const body = Readable.from(["dropped"]);
    const dropping: Plugin = {
      name: "dropping",
      async handle(_exchange, next) {
        await next();
        return { status: 200, headers: {}, body: "other" };
      },
    };
    const streaming: Plugin = { name: "streaming", handle: () => ({ status: 200, headers: {}, body }) };
    const closed = once(body, "close");
    expect(await (await ask([dropping, streaming])).text()).toBe("other");
    await closed;
  });

  it("releases the content of a reply that comes too late for a plugin that did not wait", async () => {
    const body = Readable.from(["late"]);
    const closed = once(body, "close");
    let answerLate = (): void => {};
    const late: Plugin = {
      name: "late",
      handle: () =>
        new Promise((resolve) => {
          answerLate = () => resolve({ status: 200, headers: {}, body });
        }),
    };
    const hasty: Plugin = {
      name: "hasty",
      handle(_exchange, next) {
        void next();
        return { status: 504, headers: {} };
      },
    };
    expect((await ask([hasty, late])).status).toBe(504);
    answerLate();
    await closed;
  });

  it.each([
    ["status 99", { status: 99, headers: {} }],
    ["status 101", { status: 101, headers: {} }],
    ["status 200.5", { status: 200.5, headers: {} }],
    ["status 600", { status: 600, headers: {} }],
    ["no reply", { status: 200 }],
    ["no reply", null],
    ["no reply", undefined],
    ["content that is neither text, bytes nor a stream", { status: 200, headers: {}, body: { a: 1 } }],
    ["content that is neither text, bytes nor a stream", { status: 200, headers: {}, body: 5 }],
  ])("answers 500, and names the plugin, when it returned %s", async (what, given) => {
    const reported: unknown[] = [];
    const odd = { name: "odd", handle: () => given } as unknown as Plugin;
    const response = await ask([odd], (error) => reported.push(error));
    expect(response.status).toBe(500);
    expect(String(reported[0])).toContain(`plugin "odd" returned ${what}`);
  });
});

const plain = (name: string): Plugin => ({ name });
const scoped = (prefix: string, plugins?: readonly Plugin[]): Plugin => ({
  name: `scope ${prefix}`,
  scope: { covers: (path) => path.startsWith(prefix), plugins },
});
/** The plugins that have to do with a path, in order. */
const at = (path: string, plugins: readonly Plugin[]): string[] =>
  listPlugins(plugins)
    .filter(({ plugin, covers }) => !plugin.scope && covers(path))
    .map(({ plugin }) => plugin.name);

describe("the list of plugins", () => {
  it("has each plugin everywhere as long as there is no scope", () => {
    const listed = listPlugins([plain("a"), plain("b")]);
    expect(listed.map(({ plugin }) => plugin.name)).toEqual(["a", "b"]);
    expect(listed.every(isEverywhere)).toBe(true);
  });

  it("confines what follows a scope, up to the next one", () => {
    const plugins = [plain("first"), scoped("/a"), plain("in a"), plain("too"), scoped("/b"), plain("in b")];
    expect(at("/a/x", plugins)).toEqual(["first", "in a", "too"]);
    expect(at("/b/x", plugins)).toEqual(["first", "in b"]);
    expect(at("/c", plugins)).toEqual(["first"]);
  });

  it("confines the plugins of a scope, and not what follows it", () => {
    const plugins = [scoped("/a", [plain("inside")]), plain("outside")];
    expect(at("/a/x", plugins)).toEqual(["inside", "outside"]);
    expect(at("/b", plugins)).toEqual(["outside"]);
  });

  it("ends a flat scope at a nested one", () => {
    const plugins = [scoped("/a"), plain("flat"), scoped("/b", [plain("nested")]), plain("after")];
    expect(at("/a", plugins)).toEqual(["flat", "after"]);
    expect(at("/b", plugins)).toEqual(["nested", "after"]);
  });

  it("confines a scope within a scope to what both cover, and lets it end with the list that it stands in", () => {
    const plugins = [scoped("/a", [scoped("/a/b"), plain("inner")]), plain("after")];
    expect(at("/a/b/c", plugins)).toEqual(["inner", "after"]);
    expect(at("/a/c", plugins)).toEqual(["after"]);
    expect(at("/b", [scoped("/a", [scoped("/b", [plain("never")])])])).toEqual([]);
  });

  it("keeps a scope itself in the list, for it may be started and closed", () => {
    const listed = listPlugins([scoped("/a"), scoped("/b", [plain("x")])]);
    expect(listed.map(({ plugin }) => plugin.name)).toEqual(["scope /a", "scope /b", "x"]);
  });

  it("has a plugin that is listed twice once, for the paths of both places", () => {
    const shared = plain("shared");
    const [, place, ...others] = distinctPlugins(listPlugins([scoped("/a", [shared]), scoped("/b", [shared])]));
    expect(others.map(({ plugin }) => plugin.name)).toEqual(["scope /b"]);
    expect(place?.plugin).toBe(shared);
    expect(["/a", "/b", "/c"].filter((path) => place?.covers(path))).toEqual(["/a", "/b"]);
  });
});
