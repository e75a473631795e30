import type { Buffer } from "node:buffer";
import { Readable } from "node:stream";
import type { Version } from "../../server/file-history.ts";
import { type OpenFile, type Storage, StorageError, type StoredStat } from "../../storage/storage.ts";

/** One file as it was, which only can be read. */
export function pastFile({ path, time, etag = "" }: Version, content: Buffer): Storage {
  const stat: StoredStat = { type: "file", size: content.length, modified: time, version: etag.slice(1, -1) };
  const file: OpenFile = {
    stat,
    content,
    bytes: async ({ start, end } = { start: 0, end: content.length - 1 }) => content.subarray(start, end + 1),
    stream: ({ start, end } = { start: 0, end: content.length - 1 }) =>
      Readable.from([content.subarray(start, end + 1)]),
    async close() {},
  };
  const refuse = async (): Promise<never> => {
    throw new StorageError("read-only");
  };
  return {
    stat: async (asked) => (asked === path ? stat : undefined),
    open: async (asked) => (asked === path ? file : undefined),
    list: () => Readable.from([]),
    write: refuse,
    append: refuse,
    update: refuse,
    remove: refuse,
  };
}
