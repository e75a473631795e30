import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { type Storage, StorageError, type StoredStat } from "../../src/storage/storage.ts";
import { type Change, Draft, WaitingChanges } from "../../src/storage/waiting-changes.ts";
import { deferred } from "../helpers/deferred.ts";
import { checks } from "../helpers/effort.ts";
import { content, textAt } from "./content.ts";

/** A request, and whether its condition fails where the file is longer than that. */
interface Asked {
  readonly kind: "append" | "write" | "update" | "unchanged" | "failing";
  readonly text: string;
  readonly longest: number;
}

const asked: fc.Arbitrary<Asked> = fc.record({
  kind: fc.constantFrom("append", "write", "update", "unchanged", "failing"),
  text: fc.string({ maxLength: 5 }),
  longest: fc.nat(30),
});

/** Makes a request; what became of it, with versions by the number of the change that made them. */
async function send(storage: Storage, { kind, text, longest }: Asked, seen: (stat: StoredStat) => string) {
  const check = (current: StoredStat | undefined): void => {
    if ((current?.size ?? 0) > longest) throw new StorageError("conflict");
  };
  const request = (): Promise<{ readonly stat: StoredStat; readonly created: boolean }> => {
    if (kind === "append") return storage.append("/a.txt", content(text), { check });
    if (kind === "write") return storage.write("/a.txt", content(text), { check });
    return storage.update("/a.txt", async (read, stat) => {
      check(stat);
      if (kind === "failing") throw new Error(`no ${text}`);
      return kind === "update" ? Buffer.concat([await read(), Buffer.from(`<${text}>`)]) : undefined;
    });
  };
  return request().then(
    ({ stat, created }) => ({ created, size: stat.size, version: seen(stat) }),
    (error: Error) => error.message,
  );
}

/** Names versions by the order in which they were seen first. */
function numbered(): (stat: StoredStat) => string {
  const versions: string[] = [];
  return ({ version }) => {
    if (!versions.includes(version)) versions.push(version);
    return `version ${versions.indexOf(version)}`;
  };
}

describe("changes that wait together", () => {
  it("are answered in the order in which they were made, also after one that has much to clean up", async () => {
    const changes = new WaitingChanges(async (_path, group) => {
      const draft = new Draft(undefined, async () => Buffer.of());
      await group.apply(draft);
      await group.done(draft.stat);
    });
    const order: string[] = [];
    const put: Change = (draft) => void draft.replace(Buffer.of(1));
    const first = changes.run("/a", put, () => setImmediate().then(() => void order.push("cleaned up")));
    await Promise.all([first, changes.run("/a", put).then(() => order.push("second"))]);
    expect(order).toEqual(["cleaned up", "second"]);
  });

  it("do what they would do one after the other", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(asked, { minLength: 1, maxLength: 12 }), async (requests) => {
        const [together, apart] = [memoryStorage({ "/a.txt": "old" }), memoryStorage({ "/a.txt": "old" })];
        const [seenTogether, seenApart] = [numbered(), numbered()];
        const { promise: mayEnd, resolve: end } = deferred();
        const first = together.update("/a.txt", async () => void (await mayEnd));
        const waiting = [];
        for (const each of requests) {
          waiting.push(send(together, each, seenTogether));
          await setImmediate(); // so that they come in this order
        }
        end();
        await first;
        const outcomes = await Promise.all(waiting);
        const expected: unknown[] = [];
        for (const each of requests) expected.push(await send(apart, each, seenApart));
        expect(outcomes).toEqual(expected);
        expect(await textAt(together, "/a.txt")).toBe(await textAt(apart, "/a.txt"));
      }),
      checks({ seed: 23, numRuns: 100, inCampaign: 1_000 }),
    );
  });

  it("are answered in their order, each after what the one before has done at once", async () => {
    const storage = memoryStorage({ "/a.txt": "" });
    const order: string[] = [];
    const announced = async (number: number): Promise<void> => {
      await storage.append("/a.txt", content(`${number}`));
      order.push(`${number}`);
      await Promise.resolve();
      await Promise.resolve();
      order.push(`${number} again`);
    };
    await Promise.all([1, 2, 3].map(announced));
    expect(order).toEqual(["1", "1 again", "2", "2 again", "3", "3 again"]);
  });

  it("are no more than those that waited when the file became free", async () => {
    const storage = memoryStorage({ "/a.txt": "" });
    const { promise: mayGoOn, resolve: open } = deferred();
    const seen: number[] = [];
    const first = storage.update("/a.txt", async (_, { size }) => {
      seen.push(size);
      await mayGoOn;
      return Buffer.from("first");
    });
    const others = [1, 2].map(() => storage.append("/a.txt", content("+")));
    open();
    await Promise.all([first, ...others]);
    expect(await textAt(storage, "/a.txt")).toBe("first++");
    expect(seen).toEqual([0]);
  });
});
