import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createFileServer } from "../../../src/file-server.ts";
import { s3Storage } from "../../../src/storage/s3/s3-storage.ts";
import type { Storage, StoredStat } from "../../../src/storage/storage.ts";
import { timesOf } from "../../helpers/effort.ts";
import { plainDeletes } from "../../helpers/plain-deletes.ts";
import { storeRequests } from "../../helpers/store-requests.ts";
import { testBucket } from "../../helpers/test-bucket.ts";
import { content, namesAt, textAt, withBytes } from "../content.ts";

/** Storages of one bucket, as servers on several machines have them. */
async function servers(count: number, files: Readonly<Record<string, string>>) {
  const { options, client, keys } = await testBucket(files);
  const storages = Array.from({ length: count }, () => s3Storage(options));
  return { storages, options, client, keys };
}

const increment = (bytes: Uint8Array): Uint8Array => Buffer.from(String(Number(Buffer.from(bytes).toString()) + 1));

/** Has each storage do something a number of times, one after the other, all of them at once. */
async function eachTimes(
  storages: readonly Storage[],
  times: number,
  act: (storage: Storage, name: string) => Promise<unknown>,
) {
  const work = async (storage: Storage, index: number): Promise<void> => {
    for (let time = 0; time < times; time += 1) await act(storage, `${index}-${time}`);
  };
  await Promise.all(storages.map(work));
}

describe("S3 storages of one bucket", { tags: ["versitygw"] }, () => {
  it("lose no edit and no append of each other", async () => {
    const { storages } = await servers(4, { "/count.txt": "0", "/log.txt": "" });
    const requests = storeRequests();
    const times = timesOf(4, 50);
    await eachTimes(storages, times, async (storage, name) => {
      await storage.update("/count.txt", withBytes(increment));
      await storage.append("/log.txt", content(`${name}\n`));
    });
    const [first] = storages;
    const lines = ((first && (await textAt(first, "/log.txt"))) ?? "").trim().split("\n");
    expect(first && (await textAt(first, "/count.txt"))).toBe(String(4 * times));
    expect(new Set(lines).size).toBe(4 * times);
    expect(lines).toHaveLength(4 * times);
    expect(requests.filter(({ status }) => status === 412).length).toBeGreaterThan(0);
  });

  it("let one of those who create a file win, whichever it is", async () => {
    const { storages } = await servers(8, {});
    const outcomes = await Promise.allSettled(
      storages.map((storage, index) => storage.write("/new.txt", content(String(index)), { exclusive: true })),
    );
    const winners = outcomes.flatMap(({ status }, index) => (status === "fulfilled" ? [String(index)] : []));
    expect(winners).toHaveLength(1);
    expect(storages[0] && (await textAt(storages[0], "/new.txt"))).toBe(winners[0]);
  });

  it("judge a write by what is there when it is made, not by what was seen a moment ago", async () => {
    const { storages } = await servers(2, { "/a.txt": "old" });
    const [one, other] = storages as [Storage, Storage];
    const before = await one.stat("/a.txt");
    await other.write("/a.txt", content("newer"));
    const seen: (string | undefined)[] = [];
    const error = new Error("precondition failed");
    const writing = one.write("/a.txt", content("mine"), {
      check(current) {
        seen.push(current?.version);
        if (current?.version !== before?.version) throw error;
      },
    });
    await expect(writing).rejects.toBe(error);
    expect(seen).toEqual([before?.version, (await other.stat("/a.txt"))?.version]);
    expect(await textAt(other, "/a.txt")).toBe("newer");
    await expect(other.remove("/a.txt")).resolves.toBeUndefined();
    await expect(one.update("/a.txt", withBytes(increment))).rejects.toMatchObject({ code: "not-found" });
  });

  it("see at once what another has changed", async () => {
    const { storages } = await servers(2, { "/a.txt": "1", "/dir/b.txt": "b" });
    const [one, other] = storages as [Storage, Storage];
    for (let time = 2; time < 6; time += 1) {
      expect(await textAt(other, "/a.txt")).toBe(String(time - 1));
      await one.write("/a.txt", content(String(time)));
    }
    await one.remove("/a.txt");
    await one.remove("/dir/b.txt");
    expect([await textAt(other, "/a.txt"), await namesAt(other, "/"), await namesAt(other, "/dir")]).toEqual([
      undefined,
      ["dir"],
      [],
    ]);
  });

  it("keep what another program has written, and give it versions of its own", async () => {
    const { storages, client, options } = await servers(1, { "/a.txt": "1" });
    const [storage] = storages as [Storage];
    const { PutObjectCommand } = await import("@aws-sdk/client-s3");
    const put = (text: string): Promise<unknown> =>
      client.send(
        new PutObjectCommand({ Bucket: options.bucket, Key: `${options.prefix}/a.txt`, Body: Buffer.from(text) }),
      );
    await storage.update("/a.txt", withBytes(increment));
    const before = await storage.stat("/a.txt");
    await put("41");
    const { stat } = await storage.update("/a.txt", withBytes(increment));
    await put("7");
    const after = await storage.stat("/a.txt");
    expect(await textAt(storage, "/a.txt")).toBe("7");
    expect(new Set([before?.version, stat.version, after?.version]).size).toBe(3);
  });

  it("tell one tag of an object each, also after the same content was stored again", async () => {
    const { storages } = await servers(3, { "/a.txt": "old", "/foreign.txt": "same" });
    const [one, other, third] = storages as [Storage, Storage, Storage];
    const tags = async (path: string): Promise<(string | undefined)[]> =>
      Promise.all(
        [one, other, third].map(async (storage) => {
          const file = await storage.open(path); // read, and kept
          await file?.bytes();
          await file?.close();
          return file?.stat.version;
        }),
      );
    await one.write("/a.txt", content("same"));
    const first = await tags("/a.txt");
    const { stat } = await other.write("/a.txt", content("same"));
    expect(new Set([...(await tags("/a.txt")), stat.version, (await one.stat("/a.txt"))?.version]).size).toBe(1);
    expect(new Set([...first, stat.version]).size).toBe(2);
    const { stat: updated } = await one.update(
      "/a.txt",
      withBytes((bytes) => Buffer.from(bytes)),
    );
    expect(new Set([...(await tags("/a.txt")), updated.version]).size).toBe(1);
    await tags("/foreign.txt");
    await third.write("/foreign.txt", content("same"));
    expect(new Set(await tags("/foreign.txt")).size).toBe(1);
  });

  it("give up a change that others overtake again and again, and say so", async () => {
    const { storages } = await servers(2, { "/a.txt": "0" });
    const [one, other] = storages as [Storage, Storage];
    const random = vi.spyOn(Math, "random").mockReturnValue(0); // no pauses
    onTestFinished(() => random.mockRestore());
    let tries = 0;
    const edit = async (): Promise<Uint8Array> => {
      tries += 1;
      await other.update("/a.txt", withBytes(increment));
      return Buffer.from("mine");
    };
    await expect(one.update("/a.txt", withBytes(edit))).rejects.toMatchObject({
      name: "StorageError",
      code: "conflict",
    });
    expect(await textAt(other, "/a.txt")).toBe(String(tries));
    expect(tries).toBeGreaterThan(10);
  });
});

describe("S3 storages whose store has no conditional DELETE", { tags: ["versitygw"] }, () => {
  async function onPlainDeletes(files: Readonly<Record<string, string>>) {
    const { options, keys } = await testBucket(files);
    const endpoint = await plainDeletes(options.endpoint);
    const [one, other] = [s3Storage({ ...options, endpoint }), s3Storage({ ...options, endpoint })];
    await Promise.all([one.start?.(), other.start?.()]);
    return { one, other, keys };
  }

  it("never delete what another has written meanwhile", async () => {
    const { one, other } = await onPlainDeletes({ "/a.txt": "old" });
    const before = await one.stat("/a.txt");
    await other.write("/a.txt", content("acknowledged"));
    const error = new Error("precondition failed");
    const check = (current: StoredStat | undefined): void => {
      if (current?.version !== before?.version) throw error;
    };
    await expect(one.remove("/a.txt", { check })).rejects.toBe(error);
    expect(await textAt(other, "/a.txt")).toBe("acknowledged");
  });

  it("leave a tombstone, which is nothing to clients, and in whose place a file is made", async () => {
    const { one, other, keys } = await onPlainDeletes({ "/dir/a.txt": "old" });
    await one.remove("/dir/a.txt");
    await expect(other.remove("/dir/a.txt")).rejects.toMatchObject({ code: "not-found" });
    expect([await keys(), await namesAt(other, "/dir"), await textAt(other, "/dir/a.txt")]).toEqual([
      ["/dir/", "/dir/a.txt"],
      [],
      undefined,
    ]);
    const made = await Promise.allSettled(
      [one, other].map((each) => each.write("/dir/a.txt", content("new"), { exclusive: true })),
    );
    expect(made.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    await one.remove("/dir/a.txt");
    await one.remove("/dir");
    expect([await other.stat("/dir"), await namesAt(other, "/")]).toEqual([undefined, []]);
  });

  it("lose no file where writers and deleters work on it at once", async () => {
    const { one, other } = await onPlainDeletes({});
    const acknowledged = new Set<string>();
    let removed = 0;
    await eachTimes([one, other, one, other], timesOf(10, 200), async (storage, name) => {
      await storage.write("/a.txt", content(name), { exclusive: true }).then(
        () => acknowledged.add(name),
        () => {},
      );
      await storage.remove("/a.txt").then(
        () => {
          removed += 1;
        },
        () => {},
      );
    });
    const isLeft = (await one.stat("/a.txt")) !== undefined;
    expect(acknowledged.size).toBe(removed + Number(isLeft));
    expect(removed).toBeGreaterThan(2);
  });
});

describe("a PUT over a bucket", { tags: ["versitygw"] }, () => {
  /** Two servers of one bucket, and what the first asks of the store for a request. */
  async function twoServers() {
    const { storages } = await servers(2, { "/a.txt": "old" });
    const [own, other] = storages as [Storage, Storage];
    const files = createFileServer({ storage: own });
    onTestFinished(() => files.close());
    const asked = storeRequests();
    const put = async (body: string, headers: Record<string, string> = {}) => {
      asked.length = 0;
      const request = new Request("http://localhost/a.txt", { method: "PUT", body, headers });
      const { status } = await files.fetch(request);
      return [status, ...asked.map(({ name }) => name)];
    };
    await put("first");
    return { put, other };
  }

  it("asks nothing before it replaces a file that was seen a moment ago, unless it has conditions", async () => {
    const { put, other } = await twoServers();
    expect(await put("second")).toEqual([200, "put"]);
    expect(await put("third", { "if-match": "*" })).toEqual([200, "head", "put"]);
    expect(await put("none", { "if-none-match": "*" })).toEqual([412, "head"]);
    expect(await textAt(other, "/a.txt")).toBe("third");
  });

  it("finds out what others have made of the file meanwhile", async () => {
    const { put, other } = await twoServers();
    await other.write("/a.txt", content("theirs"));
    expect(await put("mine")).toEqual([200, "put", "head", "put"]);
    expect(await textAt(other, "/a.txt")).toBe("mine");
  });

  it("creates a file that others have removed meanwhile, and refuses to replace a directory", async () => {
    const gone = await twoServers();
    await gone.other.remove("/a.txt");
    expect((await gone.put("mine"))[0]).toBe(201);
    const directory = await twoServers();
    await directory.other.remove("/a.txt");
    await directory.other.write("/a.txt/b.txt", content("b"));
    expect((await directory.put("mine"))[0]).toBe(405);
    expect(await namesAt(directory.other, "/a.txt/")).toEqual(["b.txt"]);
  });
});
