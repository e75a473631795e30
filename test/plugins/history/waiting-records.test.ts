import { describe, expect, it } from "vitest";
import type { ReadRecord } from "../../../src/plugins/history/journal.ts";
import { WaitingRecords } from "../../../src/plugins/history/waiting-records.ts";
import { seededRandom, suiteSeed, timesOf } from "../../helpers/effort.ts";

const random = seededRandom(suiteSeed);
const pick = (below: number): number => Math.floor(random() * below);

/** What four processes note of changes of three files, each what it changes for the first time; some are lost. */
function noted(count: number): readonly ReadRecord[] {
  const latest = new Map<string, string>();
  const made = Array.from({ length: count }, (_, order): ReadRecord => {
    const path = `/${pick(3)}.txt`;
    const follows = latest.get(path) ?? "";
    const isDeleted = follows !== "" && random() < 0.1;
    latest.set(path, isDeleted ? "" : `"${order}"`);
    const place = { journal: `${pick(4)}-1.journal`, number: order, order };
    const what = isDeleted ? { kind: "deleted" as const } : { kind: "written" as const, etag: `"${order}"` };
    return { path, follows, ...what, ...place, summary: "", time: order, content: Buffer.alloc(0) };
  });
  const changed = new Set<string>();
  return made.flatMap((record) => {
    const { path, journal, follows: etag, time: orderTime } = record;
    if (random() < 0.05) return [];
    const time = orderTime - 1 - pick(20);
    const former = { ...record, follows: undefined, etag, kind: "found" as const, time, orderTime };
    const isFirst = etag !== "" && !changed.has(journal + path);
    changed.add(journal + path);
    return isFirst ? [former, record] : [record];
  });
}

describe("WaitingRecords", () => {
  it("does not wait for a version that comes again, as in a bucket that of the same content", () => {
    const waiting = new WaitingRecords();
    const tags = ['"a"', '"b"'];
    for (let order = 0; order < 1000; order += 1) {
      const place = { path: "/a.txt", journal: `${order % 3}-1.journal`, number: order, order };
      const [follows, etag] = [order === 0 ? "" : tags[(order + 1) % 2], tags[order % 2]];
      waiting.add({ ...place, follows, etag, kind: "written", summary: "", time: order, content: Buffer.alloc(0) });
    }
    waiting.looks = 1;
    const taken = Array.from({ length: 1000 }, () => waiting.take(3)?.record.order);
    expect(taken).toEqual(Array.from({ length: 1000 }, (_, order) => order));
  });

  it("gives all changes of a file once and in their order, as journals grow, also where one is lost", () => {
    for (let round = 0; round < timesOf(50, 5000); round += 1) {
      const waiting = new WaitingRecords();
      const records = noted(60);
      const versions: [path: string, version: number][] = [];
      const unread = new Set(records);
      // A journal is at most one look behind the changes.
      for (let now = 0, before = 0; now < 260; before = now, now += pick(20)) {
        waiting.looks += 1;
        const ends = Array.from({ length: 4 }, () => before + pick(now - before + 1));
        for (const record of unread) {
          if (record.order >= (ends[Number(record.journal[0])] ?? 0)) continue;
          waiting.add(record);
          unread.delete(record);
        }
        for (let next = waiting.take(3); next; next = waiting.take(3)) {
          const { path, kind, etag, order } = next.record;
          if (next.isNew) versions.push([path, kind === "found" ? Number(etag?.slice(1, -1)) : order]);
        }
      }
      for (const path of ["/0.txt", "/1.txt", "/2.txt"]) {
        const ofFile = versions.filter(([of]) => of === path).map(([, version]) => version);
        const committed = ofFile.filter((version, index) => version !== ofFile[index - 1]);
        const changed = records.filter((record) => record.path === path && record.kind !== "found");
        const all = changed.map(({ order }) => order);
        expect(committed).toEqual([...new Set([...ofFile, ...all])].sort((a, b) => a - b));
      }
    }
  });
});
