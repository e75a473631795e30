import type { Buffer } from "node:buffer";
import { Readable } from "node:stream";
import type { Version } from "../../server/file-history.ts";
import { BytesFile } from "../../storage/bytes-file.ts";
import { type Storage, StorageError, type StoredStat } from "../../storage/storage.ts";

/** One file as it was, which only can be read. */
export function pastFile({ path, time, etag = "" }: Version, content: Buffer): Storage {
  const stat: StoredStat = { type: "file", size: content.length, modified: time, version: etag.slice(1, -1) };
  const refuse = async (): Promise<never> => {
    throw new StorageError("read-only");
  };
  return {
    stat: async (asked) => (asked === path ? stat : undefined),
    open: async (asked) => (asked === path ? new BytesFile(stat, content) : undefined),
    list: () => Readable.from([]),
    write: refuse,
    append: refuse,
    update: refuse,
    remove: refuse,
  };
}
