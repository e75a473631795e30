import { once } from "node:events";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { createFileServer } from "../../src/file-server.ts";
import { HttpError } from "../../src/http/http-error.ts";
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

  it("turns what a plugin throws into 500, reports it, and goes on serving", async () => {
    const reported: unknown[] = [];
    const broken: Plugin = {
      name: "broken",
      handle() {
        throw new Error("secret of the server");
      },
    };
    const response = await ask([broken], (error) => reported.push(error));
    const body = await response.text();
    expect(response.status).toBe(500);
    expect(JSON.parse(body)).toMatchObject({ error: "Internal Server Error", code: "INTERNAL_ERROR" });
    expect(body).toContain(response.headers.get("x-request-id"));
    expect(body).not.toContain("secret");
    expect(reported).toHaveLength(1);
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
    ["content that is neither text, bytes nor a stream", { status: 200, headers: {}, body: { a: 1 } }],
    ["content that is neither text, bytes nor a stream", { status: 200, headers: {}, body: 5 }],
  ])("answers 500, and names the plugin, when it returned %s", async (what, given) => {
    const reported: unknown[] = [];
    const odd = { name: "odd", handle: () => given } as unknown as Plugin;
    const response = await ask([odd], (error) => reported.push(error));
    expect(response.status).toBe(500);
    expect(String(reported[0])).toContain(`plugin "odd" returned ${what}`);
  });

  it("answers 500 when a plugin returns no reply", async () => {
    const reported: unknown[] = [];
    const forgetful = { name: "forgetful", handle: async () => undefined } as unknown as Plugin;
    const response = await ask([forgetful], (error) => reported.push(error));
    expect(response.status).toBe(500);
    expect(String(reported[0])).toContain('plugin "forgetful" returned no reply');
  });
});
