import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createFileServer, healthCheck, memoryStorage, metrics, rateLimit, webSocket } from "../../src/index.ts";
import { sharedFeeds, sharedServices } from "../../src/server/shared-services.ts";
import { runFilement } from "../helpers/filement-command.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";
import { redisServer } from "../redis/redis-server.ts";

describe("a Redis that servers share", { tags: ["redis-server"] }, () => {
  it("tells the lag of its feed in the metrics", async () => {
    const { url } = await redisServer();
    const plugins = [metrics(), rateLimit({ store: url }), webSocket()];
    const files = createFileServer({ storage: memoryStorage({}), plugins, feed: url, onError: () => {} });
    const sampleOf = async (name: string): Promise<number> => {
      const text = await (await files.fetch("/metrics")).text();
      return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
    };
    await files.fetch(new Request("http://localhost/a.txt", { method: "PUT", body: "a" }));
    await expect.poll(() => sampleOf("change_feed_lag_seconds")).toBeGreaterThan(0);
    await files.close();
    expect([sharedServices.size, sharedFeeds.size]).toEqual([0, 0]);
  });

  it("is in the report of a health check when it is away, which stays healthy", async () => {
    const { url, kill } = await redisServer();
    const plugins = [healthCheck({ cacheTime: 0 }), rateLimit({ store: url })];
    const files = createFileServer({ storage: memoryStorage({}), plugins, feed: url, onError: () => {} });
    onTestFinished(() => files.close());
    const report = async (): Promise<[number, object]> => {
      const response = await files.fetch("/health");
      return [response.status, await response.json()];
    };
    const [status, healthy] = await report();
    expect([status, "checks" in healthy]).toEqual([200, false]);
    await kill();
    await expect.poll(report).toMatchObject([200, { status: "degraded", checks: { redis: "failing" } }]);
  });

  /** A page that names a Redis for limits and for messages. */
  async function pageWithRedis(url: string): Promise<string> {
    const directory = await temporaryDirectory();
    const page = join(directory, "config.html");
    const item = (type: string, property: string, body: string): string =>
      `<div ${property} itemscope itemtype="https://example.org/schema/${type}">${body}</div>`;
    const limit = `<b itemprop="library">rate-limit</b><b itemprop="store">${url}</b>`;
    const live = `<b itemprop="library">websocket</b>`;
    const plugins = [limit, live].map((body) => item("Plugin", 'itemprop="plugin"', body)).join("");
    const host = `<b itemprop="hostname">*</b><b itemprop="hostRoot">.</b>${plugins}`;
    await writeFile(
      page,
      item("ServerConfig", "", `<b itemprop="feed">${url}</b>${item("HostConfig", 'itemprop="host"', host)}`),
    );
    return page;
  }

  it("passes filement --check, as a page names it", { tags: ["campaign"] }, async () => {
    const { url } = await redisServer();
    const page = await pageWithRedis(url);
    expect(await runFilement("--check", page)).toMatchObject({ code: 0, stdout: `filement: ${page} is fine\n` });
  });

  it("is tried by filement --check, which says where it is away", async () => {
    const { url, kill } = await redisServer();
    const page = await pageWithRedis(url);
    await kill();
    const { code, stdout, stderr } = await runFilement("--check", page);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(`RedisError: ${url} cannot be asked`);
    expect(stderr).toMatch(/^filement: .* starts, with the errors above$/m);
  });
});
