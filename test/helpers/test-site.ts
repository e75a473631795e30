import { randomUUID } from "node:crypto";
import type { Dirent } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { buffer } from "node:stream/consumers";
import { inject } from "vitest";
import type { FileServerConfig } from "../../src/config.ts";
import type { Change } from "../../src/server/change-feed.ts";
import type { Outcome, Plugin } from "../../src/server/plugin.ts";
import { diskStorage } from "../../src/storage/disk/disk-storage.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { type S3StorageOptions, s3Storage } from "../../src/storage/s3/s3-storage.ts";
import type { Content, Storage } from "../../src/storage/storage.ts";
import { deferred } from "./deferred.ts";
import { isCampaign, usesBucket } from "./effort.ts";
import { isMet } from "./needs.ts";
import { s3Credentials } from "./s3-credentials.mjs";
import { type Answer, type Sending, send } from "./send.ts";
import { type Served, serve } from "./serve.ts";
import { asOnPosix } from "./spelling.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

export type Files = Readonly<Record<string, string | Uint8Array>>;

/** Files behind a real server, and ways to look at all sides of it. */
export interface TestSite extends Served {
  readonly storage: Storage;
  /** All changes announced so far. */
  readonly changes: readonly Change[];
  /** What became of the requests so far, in the order in which they ended. */
  readonly outcomes: readonly Outcome[];
  /** Settles when that many requests have ended. */
  ended(count: number): Promise<void>;
  send(method: string, target: string, sending?: Sending): Promise<Answer>;
  /** What is stored there as text; `undefined` for nothing. */
  textAt(path: string): Promise<string | undefined>;
  /** All paths below the root, those of directories with a slash, sorted; also of what clients do not see. */
  everything(): Promise<string[]>;
}

/** A place to keep files, and how to see what really is in it. */
export interface TestStorage {
  readonly storage: Storage;
  everything(): Promise<string[]>;
}

/** The storages of every test of an operation; S3 only in a campaign. A path that ends in a slash is a directory. */
export const storages: readonly { readonly where: string; make(files?: Files): Promise<TestStorage> }[] = [
  { where: "on disk", make: async (files) => onDisk(await temporaryDirectory(), files) },
  { where: "in memory", make: inMemory },
  ...(isCampaign && isMet("versitygw") ? [{ where: "in a bucket", make: inBucket }] : []),
];

/** A storage with these files: in memory, or with `FILEMENT_STORAGE=s3` in a bucket, where its start puts them. */
export function storageWith(files: Files): Storage {
  if (!usesBucket) return memoryStorage(files);
  const storage = s3Storage({ ...bucketOptions(), prefix: randomUUID() });
  const start = async (): Promise<void> => {
    for (const [path, content] of Object.entries(files)) await storage.write(path, onePiece(content));
  };
  return { ...storage, start };
}

/** Where the S3 server of this run is, for tests with the tag `versitygw`. */
export function bucketOptions(): S3StorageOptions & { readonly endpoint: string } {
  const server = inject("s3");
  if (!server) throw new Error("there is no S3 server: it takes versitygw");
  return { ...server, credentials: s3Credentials };
}

async function* onePiece(content: string | Uint8Array): Content {
  yield Buffer.from(content);
}

/** Files in a directory of the disk. */
export async function onDisk(directory: string, files: Files = {}): Promise<TestStorage> {
  for (const [path, content] of Object.entries(files)) {
    const location = join(directory, path);
    await mkdir(path.endsWith("/") ? location : dirname(location), { recursive: true });
    if (!path.endsWith("/")) await writeFile(location, content);
  }
  return {
    storage: diskStorage(directory),
    async everything() {
      const entries = await entriesBelow(directory);
      return entries
        .map((entry) => [join("/", entry.parentPath.slice(directory.length), entry.name), entry.isFile() ? "" : "/"])
        .map(([location, end]) => asOnPosix(`${location}${end}`, directory))
        .sort();
    },
  };
}

/** All that is below a directory. Links are not followed, as a recursive `readdir` does in Node 26. */
export async function entriesBelow(directory: string): Promise<readonly Dirent[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const inside = entries.map((each) => (each.isDirectory() ? entriesBelow(join(directory, each.name)) : []));
  return [...entries, ...(await Promise.all(inside)).flat()];
}

/** Serves files of a test storage until the test is over. */
export async function testSite(
  { storage, everything }: TestStorage,
  config: Omit<FileServerConfig, "root" | "storage"> = {},
): Promise<TestSite> {
  const changes: Change[] = [];
  const outcomes: Outcome[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  const observer: Plugin = {
    name: "observer",
    observe(_exchange, outcome) {
      outcomes.push(outcome);
      for (const { count, resolve } of waiting) if (outcomes.length >= count) resolve();
    },
  };
  const served = await serve({ ...config, storage, plugins: [observer, ...(config.plugins ?? [])] });
  served.files.changes.subscribe((change) => changes.push(change));
  return {
    ...served,
    storage,
    changes,
    outcomes,
    everything,
    ended: (count) =>
      new Promise((resolve) => {
        waiting.push({ count, resolve });
        if (outcomes.length >= count) resolve();
      }),
    send: (method, target, sending) => send(served.url, method, target, sending),
    async textAt(path) {
      const file = await storage.open(path);
      if (!file) return undefined;
      const bytes = await buffer(file.stream());
      await file.close();
      return bytes.toString();
    },
  };
}

/** A storage that says when the first piece of content for a write or an append has arrived. */
export function telling(storage: Storage): { storage: Storage; arrived: Promise<void> } {
  const { promise: arrived, resolve } = deferred();
  async function* told(content: Content): AsyncGenerator<Uint8Array> {
    for await (const piece of content) {
      yield piece;
      resolve(); // when the next piece is asked for: this one has been stored
    }
  }
  return {
    arrived,
    storage: {
      ...storage,
      write: (path, content, options) => storage.write(path, told(content), options),
      append: (path, content, options) => storage.append(path, told(content), options),
    },
  };
}

/** Files in a bucket of the S3 server. */
export async function inBucket(files: Files = {}): Promise<TestStorage> {
  const { testBucket } = await import("./test-bucket.ts"); // loads the SDK, which takes its time
  const { options, keys } = await testBucket(files);
  return {
    storage: s3Storage(options),
    async everything() {
      const paths = (await keys()).flatMap((key) => {
        const names = key.split("/").slice(1);
        const parents = names.slice(0, -1).map((_, index) => `/${names.slice(0, index + 1).join("/")}/`);
        return [...parents, key];
      });
      return [...new Set(paths)].sort();
    },
  };
}

async function inMemory(files: Files = {}): Promise<TestStorage> {
  const storage = memoryStorage(files);
  const below = async (path: string): Promise<string[]> => {
    const paths: string[] = [];
    for await (const { name, type } of storage.list(path)) {
      const found = path + name + (type === "directory" ? "/" : "");
      paths.push(found, ...(type === "directory" ? await below(found) : []));
    }
    return paths;
  };
  return { storage, everything: async () => (await below("/")).sort() };
}
