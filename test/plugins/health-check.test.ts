import { mkdir, readdir, rm } from "node:fs/promises";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { ConfigError, type FileServerConfig } from "../../src/config.ts";
import { createFileServer, type FileServer } from "../../src/file-server.ts";
import { HttpError } from "../../src/http/http-error.ts";
import { fileHandler } from "../../src/plugins/file-handler.ts";
import { type HealthCheckOptions, healthCheck } from "../../src/plugins/health-check.ts";
import { version } from "../../src/server/version.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { guardBy } from "../helpers/file-request.ts";
import { gate } from "../helpers/gate.ts";
import { send } from "../helpers/send.ts";
import { serve } from "../helpers/serve.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

const probe = (files: FileServer, path = "/health"): Promise<Response> =>
  files.fetch(new Request(`http://localhost${path}`));

/** Status and report, without the uptime. */
async function reportOf(files: FileServer): Promise<[number, Record<string, unknown>]> {
  const response = await probe(files);
  const { uptime: _uptime, ...report } = await response.json();
  return [response.status, report];
}

function fileServer(options: HealthCheckOptions, config: Partial<FileServerConfig> = {}): FileServer {
  return createFileServer({ storage: memoryStorage(), plugins: [healthCheck(options)], ...config });
}

/** A storage that says of itself what it is told to, and how often it was asked. */
function checkedStorage(check: () => Promise<void>): Storage & { check: ReturnType<typeof vi.fn> } {
  return { ...memoryStorage(), check: vi.fn(check) };
}

describe("healthCheck", () => {
  it("tells status, uptime and version", async () => {
    const { url } = await serve({ storage: memoryStorage(), plugins: [healthCheck()] });
    const { status, headers, text } = await send(url, "GET", "/health");
    expect(status).toBe(200);
    expect(headers["content-type"]).toBe("application/json");
    expect(headers["cache-control"]).toBe("no-store");
    expect(text.replace(/"uptime":\d+/, '"uptime":0')).toBe(`{"status":"healthy","uptime":0,"version":"${version}"}`);
  });

  it("counts the uptime from the start of the server, in whole seconds", async () => {
    const clock = vi.spyOn(performance, "now").mockReturnValue(1000);
    try {
      const files = fileServer({});
      clock.mockReturnValue(500_000);
      await files.ready();
      clock.mockReturnValue(561_999);
      expect(await (await probe(files)).json()).toMatchObject({ uptime: 61 });
    } finally {
      clock.mockRestore();
    }
  });

  it("answers HEAD like GET without content, and no other method", async () => {
    const { url } = await serve({ storage: memoryStorage(), plugins: [healthCheck()] });
    const get = await send(url, "GET", "/health");
    const head = await send(url, "HEAD", "/health");
    expect([head.status, head.text]).toEqual([200, ""]);
    expect(head.headers["content-length"]).toBe(`${get.bytes.length}`);
    for (const method of ["POST", "PUT", "DELETE", "OPTIONS", "PROPFIND"]) {
      const { status, headers } = await send(url, method, "/health");
      expect([method, status, headers["allow"]]).toEqual([method, 405, "GET, HEAD"]);
    }
  });

  it("is unhealthy while a check fails, and tells which", async () => {
    let isConnected = false;
    const files = fileServer({ checks: { cache: () => true, database: async () => isConnected }, cacheTime: 0 });
    expect(await reportOf(files)).toEqual([
      503,
      { status: "unhealthy", version, checks: { cache: "ok", database: "failing" } },
    ]);
    isConnected = true;
    expect(await reportOf(files)).toEqual([200, { status: "healthy", version }]);
  });

  it("tells nobody but the server's owner why a check fails, and that once", async () => {
    const reported: unknown[] = [];
    const secret = new Error("connect ECONNREFUSED 10.0.0.7:5432");
    const files = fileServer(
      { checks: { database: () => Promise.reject(secret) }, cacheTime: 0 },
      { onError: (error) => reported.push(error) },
    );
    const text = await (await probe(files)).text();
    await (await probe(files)).text();
    expect(text).not.toContain("10.0.0.7");
    expect(reported).toEqual([new Error('health check "database" fails', { cause: secret })]);
    expect(reported[0]).toMatchObject({ cause: secret });
  });

  it("tells those only who may read the path", async () => {
    const closed = guardBy(() => false, new HttpError(403, "FORBIDDEN", "No."));
    const after = fileServer({}, { plugins: [closed, healthCheck()] });
    expect((await probe(after)).status).toBe(403);
    const before = fileServer({}, { plugins: [healthCheck(), closed] });
    expect((await probe(before)).status).toBe(200);
  });
});

describe("the storage in a health check", () => {
  it("is checked unless told otherwise", async () => {
    const storage = checkedStorage(() => Promise.reject(new Error("EROFS: /srv/www")));
    const files = fileServer({}, { storage, onError: () => {} });
    expect(await reportOf(files)).toEqual([503, { status: "unhealthy", version, checks: { storage: "failing" } }]);
    const readOnly = fileServer({ checkStorage: false }, { storage });
    expect(await reportOf(readOnly)).toEqual([200, { status: "healthy", version }]);
    expect(storage.check).toHaveBeenCalledTimes(1);
  });

  it("passes where it can be written to, or cannot tell", async () => {
    const storage = checkedStorage(async () => {});
    expect((await probe(fileServer({}, { storage }))).status).toBe(200);
    expect(storage.check).toHaveBeenCalledTimes(1);
    expect((await probe(fileServer({}, { storage: memoryStorage() }))).status).toBe(200);
  });

  it("is a directory on the disk that really can be written to", async () => {
    const root = join(await temporaryDirectory(), "root");
    await mkdir(root);
    const files = createFileServer({ root, plugins: [healthCheck({ cacheTime: 0 })], onError: () => {} });
    expect(await reportOf(files)).toEqual([200, { status: "healthy", version }]);
    expect(await readdir(root)).toEqual([]);
    await rm(root, { recursive: true });
    expect(await reportOf(files)).toEqual([503, { status: "unhealthy", version, checks: { storage: "failing" } }]);
    await mkdir(root);
    expect(await reportOf(files)).toEqual([200, { status: "healthy", version }]);
  });

  it("is that of each file handler, the host's own or one that it brings", async () => {
    const bad = checkedStorage(() => Promise.reject(new Error("no")));
    const good = checkedStorage(async () => {});
    const handlers = [fileHandler({ at: "/a", storage: bad }), fileHandler({ storage: good })];
    const files = createFileServer({ plugins: [healthCheck(), ...handlers], onError: () => {} });
    expect(await reportOf(files)).toEqual([503, { status: "unhealthy", version, checks: { storage: "failing" } }]);
    expect(good.check).toHaveBeenCalledTimes(1);
  });

  it("is each host's own; what hosts share is asked once", async () => {
    const shared = healthCheck();
    const good = checkedStorage(async () => {});
    const bad = checkedStorage(() => Promise.reject(new Error("no")));
    const hosts = { "a.example": { storage: good }, "b.example": { storage: good }, "c.example": { storage: bad } };
    const files = createFileServer({ plugins: [shared], hosts, onError: () => {} });
    const ask = async (host: string) => (await files.fetch(new Request(`http://${host}/health`))).status;
    expect(await Promise.all(Object.keys(hosts).map(ask))).toEqual([200, 200, 503]);
    expect(good.check).toHaveBeenCalledTimes(1);
  });
});

describe("a health check while everybody else gets 503", () => {
  it("says that the server is closing, over the connections that are still open", async () => {
    const { plugin, entered, release } = gate();
    const plugins = [plugin, healthCheck({ checks: { never: () => new Promise(() => {}) } })];
    const { files, port } = await serve({ storage: memoryStorage(), plugins });
    const agent = new Agent({ keepAlive: true });
    const ask = (path: string) =>
      new Promise<{ status: number | undefined; retryAfter: string | undefined; text: string }>((resolve, reject) => {
        request({ port, path, agent, host: "127.0.0.1" }, (response) => {
          let text = "";
          response.setEncoding("utf8").on("data", (chunk) => {
            text += chunk;
          });
          response.on("end", () =>
            resolve({ status: response.statusCode, retryAfter: response.headers["retry-after"], text }),
          );
        })
          .on("error", reject)
          .end();
      });
    const slow = ask("/slow");
    await entered;
    const closed = files.close();
    const answer = await ask("/health");
    expect(answer).toMatchObject({ status: 503, retryAfter: "5" });
    expect(JSON.parse(answer.text)).toEqual({ status: "closing", uptime: expect.any(Number), version });
    release();
    expect(await slow).toMatchObject({ status: 200, text: "at last" });
    await closed;
    agent.destroy();
  });

  it("says that the server is under maintenance, without running a check", async () => {
    const check = vi.fn(() => true);
    const files = fileServer({ checks: { check } }, { maintenance: true });
    const response = await probe(files);
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "60"]);
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(await response.json()).toEqual({ status: "maintenance", uptime: expect.any(Number), version });
    expect(check).not.toHaveBeenCalled();
    expect((await probe(files, "/other")).status).toBe(503);
    const post = await files.fetch(new Request("http://localhost/health", { method: "POST" }));
    expect(post.status).toBe(405);
  });

  it("says that the server is overloaded, for as long as it is", async () => {
    const { plugin, entered, release } = gate();
    const files = fileServer({}, { plugins: [plugin, healthCheck()], maxConcurrentRequests: 1 });
    const slow = probe(files, "/slow");
    await entered;
    expect(await reportOf(files)).toEqual([503, { status: "overloaded", version }]);
    release();
    await (await slow).text();
    expect(await reportOf(files)).toEqual([200, { status: "healthy", version }]);
  });

  it("says so of a server that was closed before it was started", async () => {
    const files = fileServer({});
    await files.close();
    expect(await (await probe(files)).json()).toEqual({ status: "closing", uptime: expect.any(Number), version });
  });
});

describe("the options of healthCheck", () => {
  it("may have a check of one's own for the storage in place of the built-in one", async () => {
    const storage = checkedStorage(() => Promise.reject(new Error("read-only")));
    const files = fileServer({ checks: { storage: () => true } }, { storage });
    expect(await reportOf(files)).toEqual([200, { status: "healthy", version }]);
    expect(storage.check).not.toHaveBeenCalled();
  });

  const duration = "a positive number of seconds, a million at most";
  const refused: readonly (readonly [options: unknown, problem: string])[] = [
    [{ path: "health" }, 'path is "health": expected a path as requests have it: decoded, and from the root'],
    [{ checks: { a: true } }, "checks.a is true: expected a function"],
    [{ checkStorage: 1 }, "checkStorage is 1: expected true or false"],
    [{ timeout: 0 }, `timeout is 0: expected ${duration}`],
    [{ cacheTime: -1 }, "cacheTime is -1: expected a number of seconds, 0 or more"],
    [{ version: "" }, 'version is "": expected a string that is not empty'],
    [{ check: {} }, 'the argument has no option "check" (did you mean "checks"?)'],
  ];

  it.each(refused)("are refused where they cannot work: %j", (options, problem) => {
    expect(() => healthCheck(options as HealthCheckOptions)).toThrow(new ConfigError([`healthCheck: ${problem}`]));
  });
});
