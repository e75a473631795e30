import { describe, expect, it, onTestFinished, vi } from "vitest";
import { s3Storage } from "../../../src/storage/s3/s3-storage.ts";
import type { Storage } from "../../../src/storage/storage.ts";
import { timesOf } from "../../helpers/effort.ts";
import { testBucket } from "../../helpers/test-bucket.ts";
import { content, namesAt, textAt } from "../content.ts";

/** Storages of one bucket, as servers on several machines have them. */
async function servers(count: number, files: Readonly<Record<string, string>>) {
  const { options, client, keys } = await testBucket(files);
  const lost: string[] = [];
  const storages = Array.from({ length: count }, () => {
    const storage = s3Storage(options);
    storage.observe?.({ requested() {}, lostRace: () => void lost.push("lost") });
    return storage;
  });
  return { storages, options, client, keys, lost };
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
    const { storages, lost } = await servers(4, { "/count.txt": "0", "/log.txt": "" });
    const times = timesOf(4, 50);
    await eachTimes(storages, times, async (storage, name) => {
      await storage.update("/count.txt", increment);
      await storage.append("/log.txt", content(`${name}\n`));
    });
    const [first] = storages;
    const lines = ((first && (await textAt(first, "/log.txt"))) ?? "").trim().split("\n");
    expect(first && (await textAt(first, "/count.txt"))).toBe(String(4 * times));
    expect(new Set(lines).size).toBe(4 * times);
    expect(lines).toHaveLength(4 * times);
    expect(lost.length).toBeGreaterThan(0);
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
    await expect(one.update("/a.txt", increment)).rejects.toMatchObject({ code: "not-found" });
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
    await storage.update("/a.txt", increment);
    const before = await storage.stat("/a.txt");
    await put("41");
    const { stat } = await storage.update("/a.txt", increment);
    await put("7");
    const after = await storage.stat("/a.txt");
    expect(await textAt(storage, "/a.txt")).toBe("7");
    expect(new Set([before?.version, stat.version, after?.version]).size).toBe(3);
  });

  it("give up a change that others overtake again and again, and say so", async () => {
    const { storages } = await servers(2, { "/a.txt": "0" });
    const [one, other] = storages as [Storage, Storage];
    const random = vi.spyOn(Math, "random").mockReturnValue(0); // no pauses
    onTestFinished(() => random.mockRestore());
    let tries = 0;
    const edit = async (): Promise<Uint8Array> => {
      tries += 1;
      await other.update("/a.txt", increment);
      return Buffer.from("mine");
    };
    await expect(one.update("/a.txt", edit)).rejects.toMatchObject({ name: "StorageError", code: "conflict" });
    expect(await textAt(other, "/a.txt")).toBe(String(tries));
    expect(tries).toBeGreaterThan(10);
  });
});
