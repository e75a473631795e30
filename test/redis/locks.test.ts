import { renameSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createFileServer, diskStorage, type SharedLocks, StorageError } from "../../src/index.ts";
import { redisLocks } from "../../src/redis/locks.ts";
import { cableTo } from "../helpers/cable.ts";
import { timesOf } from "../helpers/effort.ts";
import { runNode } from "../helpers/run-node.ts";
import { projectRoot } from "../helpers/source-files.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";
import { withBytes } from "../storage/content.ts";
import { redisServer } from "./redis-server.ts";

function locksAt(...args: Parameters<typeof redisLocks>): SharedLocks {
  const locks = redisLocks(...args);
  onTestFinished(() => locks.close?.());
  return locks;
}

describe("locks in Redis", { tags: ["redis-server"] }, () => {
  it("have one holder at a time", async () => {
    const redis = await redisServer();
    const [one, other] = [locksAt(redis.url), locksAt(redis.url)];
    const held = await one.acquire("/a");
    const waiting = [1, 2, 3].map(async () => {
      const mine = await locksAt(redis.url).acquire("/a");
      expect(await other.tryAcquire("/a")).toBeUndefined();
      mine.release();
    });
    expect(await other.tryAcquire("/a")).toBeUndefined();
    (await other.tryAcquire("/b"))?.release();
    expect(held.isOver?.()).toBe(false);
    held.release();
    await Promise.all(waiting);
  });

  it("are kept until they are released, and over before another gets one that could not be kept", async () => {
    const redis = await redisServer();
    const kept = await locksAt(redis.url).acquire("/kept");
    let before = Number.POSITIVE_INFINITY;
    const timeLeft = async (): Promise<string> => {
      const told = await redis.ask("EVAL", "return redis.call('PTTL', redis.call('RANDOMKEY'))", "0");
      const left = Number(told.slice(1));
      const isPutOff = left > before;
      before = left;
      return isPutOff ? "put off" : told;
    };
    await expect.poll(timeLeft).toBe("put off");
    expect([kept.isOver?.(), await locksAt(redis.url).tryAcquire("/kept")]).toEqual([false, undefined]);

    const cable = await cableTo(redis.url);
    const lost = await locksAt(cable.url, { lease: 1 }).acquire("/lost");
    cable.silence();
    const next = await locksAt(redis.url).acquire("/lost");
    expect(lost.isOver?.()).toBe(true);
    lost.release(); // which it has no more
    cable.restore();
    expect(next.isOver?.()).toBe(false);
    for (const each of [kept, next]) each.release();
    await expect.poll(() => redis.ask("DBSIZE")).toBe(":0\r\n");
  });

  it("keep appends of several servers apart that see nothing else of each other", async () => {
    const { url } = await redisServer();
    const root = await temporaryDirectory({ "log.txt": "", "list.html": "<ul></ul>" });
    const servers = [1, 2].map(() => runNode([join(projectRoot, "test/redis/serve-shared-disk.mjs"), root, url]));
    const origins = await Promise.all(servers.map(async ({ waitFor }) => (await waitFor(/listening on (\S+)/))[1]));
    const post = async (origin: string | undefined, index: number): Promise<readonly number[]> => {
      const append = await fetch(`${origin}/log.txt`, { method: "POST", body: `line ${index}\n` });
      const body = `<li>${index}`;
      const edit = await fetch(`${origin}/list.html`, { method: "POST", headers: { range: "selector=ul" }, body });
      return [append.status, edit.status];
    };
    const numbers = Array.from({ length: timesOf(8, 16) }, (_, index) => index);
    const replies = await Promise.all(numbers.map((index) => post(origins[index % 2], index)));
    expect(new Set(replies.flat())).toEqual(new Set([200, 206]));
    const [log, list] = await Promise.all(["log.txt", "list.html"].map((name) => readFile(join(root, name), "utf8")));
    expect(log?.trim().split("\n").sort()).toEqual(numbers.map((index) => `line ${index}`).sort());
    expect(list?.match(/<li>\d+/g)?.sort()).toEqual(numbers.map((index) => `<li>${index}`).sort());
  });

  it("are needed for every change: without Redis it is refused with 503, and reads go on", async () => {
    const redis = await redisServer();
    const root = await temporaryDirectory();
    const onError = vi.fn();
    const files = createFileServer({ storage: diskStorage(root, { locks: redisLocks(redis.url) }), onError });
    onTestFinished(() => files.close());
    const put = (): Promise<Response> => files.fetch(new Request("http://x/a.txt", { method: "PUT", body: "a" }));
    expect((await put()).status).toBe(201);
    await redis.kill();
    const refusal = await put();
    expect([refusal.status, await refusal.json()]).toMatchObject([503, { code: "STORAGE_UNAVAILABLE" }]);
    expect(onError).toHaveBeenCalledTimes(1);
    expect((await files.fetch("/a.txt")).status).toBe(200);
    await redis.start();
    await expect.poll(async () => (await put()).status).toBe(200);
  });
});

describe("a lock with a time limit", () => {
  /** Locks that are over when the test says so. */
  function limitedLocks() {
    const state = { isOver: false };
    const held = { isAwaited: false, isOver: () => state.isOver, release() {} };
    const locks: SharedLocks = { acquire: async () => held, tryAcquire: async () => held };
    return { state, locks };
  }

  async function storageWith(locks: SharedLocks) {
    const root = await temporaryDirectory({ "a.txt": "old" });
    const storage = diskStorage(root, { locks });
    onTestFinished(() => storage.close?.());
    return { root, storage, content: () => readFile(join(root, "a.txt"), "utf8") };
  }

  const bytes = async function* (text: string) {
    yield Buffer.from(text);
  };
  const codeOf = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => "done",
      (error: unknown) => (error instanceof StorageError ? error.code : error),
    );

  it("lets nothing be changed when it is over", async () => {
    const { state, locks } = limitedLocks();
    const { storage, content } = await storageWith(locks);
    const end = (): Uint8Array => {
      state.isOver = true;
      return Buffer.from("new");
    };
    const changes = [
      () => storage.write("/a.txt", bytes("new"), { check: end }),
      () => storage.write("/b.txt", bytes("new"), { check: end }),
      () => storage.append("/a.txt", bytes("new"), { check: end }),
      () => storage.update("/a.txt", withBytes(end)),
      () => storage.remove("/a.txt", { check: end }),
    ];
    for (const change of changes) {
      state.isOver = false;
      expect(await codeOf(change())).toBe("busy");
    }
    expect(await content()).toBe("old");
    expect(await storage.stat("/b.txt")).toBeUndefined();
    state.isOver = false;
    expect(await codeOf(storage.write("/a.txt", bytes("new")))).toBe("done");
  });

  it("lets nothing be overwritten that another has written meanwhile", async () => {
    const { locks } = limitedLocks();
    const { root, storage, content } = await storageWith(locks);
    const replace = (): void => {
      writeFileSync(join(root, "other"), "of another");
      renameSync(join(root, "other"), join(root, "a.txt"));
    };
    expect(await codeOf(storage.write("/a.txt", bytes("new"), { check: replace }))).toBe("conflict");
    expect(await codeOf(storage.remove("/a.txt", { check: replace }))).toBe("conflict");
    expect(await content()).toBe("of another");
  });

  it("protects the directory that was named, whichever storage changes it", async () => {
    const { state, locks } = limitedLocks();
    const { root, content } = await storageWith(locks);
    state.isOver = true;
    expect(await codeOf(diskStorage(root).write("/a.txt", bytes("new")))).toBe("busy");
    expect(await content()).toBe("old");
    const elsewhere = await temporaryDirectory();
    expect(await codeOf(diskStorage(elsewhere).write("/a.txt", bytes("new")))).toBe("done");
  });
});
