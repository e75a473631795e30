import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdir, readdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, it, vi } from "vitest";
import { createFileServer, type FileServer } from "../../../src/file-server.ts";
import { Committing } from "../../../src/plugins/history/committing.ts";
import type { Importer } from "../../../src/plugins/history/importer.ts";
import { Journal, JournalReader } from "../../../src/plugins/history/journal.ts";
import { history } from "../../../src/plugins/history.ts";
import { redisLocks } from "../../../src/redis/locks.ts";
import { diskLocks } from "../../../src/storage/disk/disk-locks.ts";
import { diskStorage } from "../../../src/storage/disk/disk-storage.ts";
import { s3Storage } from "../../../src/storage/s3/s3-storage.ts";
import type { Storage } from "../../../src/storage/storage.ts";
import { deferred } from "../../helpers/deferred.ts";
import { isCampaign, suiteSeed, timesOf } from "../../helpers/effort.ts";
import { projectRoot } from "../../helpers/source-files.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";
import { testBucket } from "../../helpers/test-bucket.ts";
import { redisServer } from "../../redis/redis-server.ts";
import { textAt } from "../../storage/content.ts";

const script = join(projectRoot, "test/plugins/history/writer.mjs");
/** What writers change, beside the files that they make and delete. */
const firstFiles = {
  "/page.html": "<p>0</p>",
  ...Object.fromEntries([0, 1, 2, 3].map((number) => [`/log-${number}.txt`, "begin\n"])),
};
/** Changes that are answered before all is looked at. */
const enough = timesOf(60, 10_000);

/** Starts a writer, and kills it after so many answered changes, which it notes. */
async function killedAfter(count: number, answered: string[], ...args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, [script, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const ended = once(child, "close");
  let complaint = "";
  child.stderr.on("data", (text: Buffer) => {
    complaint += text;
  });
  let seen = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    answered.push(line);
    seen += 1;
    if (seen === count) child.kill("SIGKILL");
  }
  const [, signal] = await ended;
  expect([signal, complaint]).toEqual(["SIGKILL", ""]);
}

/** What a commit made of its file. */
interface Committed {
  readonly path: string;
  /** Entity tag of the file after the change; empty where only what was found is known. */
  readonly version: string;
  /** `undefined` for a deletion. */
  readonly content: Buffer | undefined;
}

/** All commits in their order, each of which is about one file. */
function commitsOf(git: (args: readonly string[], input?: string) => Buffer): readonly Committed[] {
  const format = "--format=%H %s %(trailers:key=Version,valueonly,separator=%x20)";
  const lines = git(["log", "--reverse", "--first-parent", format, "main"]).toString().trimEnd().split("\n");
  const commits = lines.map((line) => {
    const [commit = "", , path = "", version = ""] = line.split(" ");
    return { commit, path: path.slice(1), version };
  });
  const names = commits.map(({ commit, path }) => `${commit}:${path}\n`);
  const objects = git(["cat-file", "--batch"], names.join(""));
  let at = 0;
  return commits.map(({ version, path }) => {
    const end = objects.indexOf(10, at);
    const size = / blob (\d+)$/.exec(objects.toString("latin1", at, end))?.[1];
    const content = size === undefined ? undefined : objects.subarray(end + 1, end + 1 + Number(size));
    at = end + 1 + (content ? content.length + 1 : 0);
    return { path: `/${path}`, version, content };
  });
}

/** What processes make of the files at a place until they are killed, one of which makes the commits. */
async function verifyCommits(processes: number, storage: Storage, location: string, redis?: string): Promise<void> {
  const repository = join(await temporaryDirectory(), "site.git");
  const answered: string[] = [];
  const argsOf = (seed: number): string[] => [location, repository, `${seed}`, ...(redis === undefined ? [] : [redis])];
  for (let round = 0; answered.length < enough || round < 2; round += 1) {
    const writers = Array.from({ length: processes }, (_, i) => {
      const seed = 1000 * suiteSeed + 10 * round + i + 1;
      const count = 10 + ((seed * 7919) % timesOf(10, 500));
      return killedAfter(count, answered, ...argsOf(seed));
    });
    await Promise.all(writers);
  }
  // The next one makes the commits, and another when it dies. Its git may come first: then commits are made again.
  const { length } = answered;
  const dying = killedAfter(20, answered, ...argsOf(1));
  await expect.poll(() => answered.length).toBeGreaterThan(length);
  const serve = async (): Promise<FileServer> => {
    const locks = redis === undefined ? undefined : redisLocks(redis, { lease: 1 });
    const files = createFileServer({ storage, plugins: [history({ repository, locks })], onError: () => {} });
    await files.ready();
    return files;
  };
  const files = await serve();
  await dying;
  const git = (args: readonly string[], input?: string): Buffer =>
    execFileSync("git", ["--git-dir", repository, ...args], { input, maxBuffer: 2 ** 30, stdio: "pipe" });
  await files.write("/last.txt", "last");
  await expect.poll(() => git(["log", "--format=%s", "-100"]).toString()).toContain("PUT /last.txt\n");
  // What was stored and not noted when its process was killed is found.
  for await (const { name } of storage.list("/")) {
    const stored = await textAt(storage, `/${name}`);
    await expect.poll(() => git(["show", `main:${name}`]).toString()).toBe(stored);
  }
  await files.close();
  const spool = join(repository, "filement-spool");
  // Whether a process on another machine is still there nobody knows, until a day has passed.
  for (const name of await readdir(spool)) await utimes(join(spool, name), 0, 0);
  const later = redis === undefined ? undefined : await serve();
  await later?.close();
  expect(await readdir(spool)).toEqual([]);
  expect(git(["fsck", "--strict", "--no-dangling"]).toString()).toBe("");

  const commits = commitsOf(git);
  expect(wrongIn(commits, answered)).toEqual([]);
  console.log(`${answered.length} changes by ${processes} processes, ${commits.length} commits`);
}

describe("history of processes that are killed", () => {
  it.each(isCampaign ? [1, 2, 4] : [3])(
    "has every change that was answered once, in order: %i processes",
    async (processes) => {
      const root = await temporaryDirectory(firstFiles);
      await verifyCommits(processes, diskStorage(root, { durability: "rename" }), root);
    },
  );
});

describe("history of several machines", { tags: ["versitygw", "redis-server", "linux"] }, () => {
  it("has every change of a bucket that was answered once, in order, and another makes the commits when one dies", async () => {
    const { options } = await testBucket(firstFiles);
    const { bucket, prefix, endpoint } = options;
    const { url } = await redisServer();
    await verifyCommits(3, s3Storage(options), `s3://${bucket}/${prefix}?endpoint=${endpoint}`, url);
  });
});

describe("history of several machines without their Redis", { tags: ["redis-server"] }, () => {
  it("starts, notes changes, and makes the commits when it is back", async () => {
    const root = await temporaryDirectory();
    const repository = join(await temporaryDirectory(), "site.git");
    const redis = await redisServer();
    const files = createFileServer({ root, plugins: [history({ repository, locks: redis.url })], onError: () => {} });
    await redis.kill();
    await files.ready();
    await files.write("/a.txt", "a");
    expect(await readdir(join(repository, "filement-spool"))).toHaveLength(1);
    await redis.start();
    const log = ["--git-dir", repository, "log", "--format=%s", "main"];
    const last = (): string => execFileSync("git", log, { stdio: "pipe" }).toString();
    await expect.poll(() => Promise.resolve().then(last).catch(String)).toBe("PUT /a.txt\n");
    await files.close();
    expect(await redis.ask("DBSIZE")).toBe(":0\r\n"); // another machine need not wait
  });
});

describe("history of a process that takes over", () => {
  it("makes commits of all that was left before it looks at files, also of more than git is given at once", async () => {
    const directory = await temporaryDirectory();
    const [root, repository] = [join(directory, "site"), join(directory, "site.git")];
    const spool = join(repository, "filement-spool");
    await mkdir(root);
    await writeFile(join(root, "page.html"), "<p>0</p>");
    execFileSync("git", ["init", "--quiet", "--bare", "--initial-branch=main", repository]);
    await mkdir(spool);
    // Nobody makes commits meanwhile.
    await diskLocks.run(join(spool, "leader"), () => killedAfter(600, [], root, repository, "1"));
    await writeFile(join(root, "page.html"), "<p>by hand</p>");
    const files = createFileServer({ root, plugins: [history({ repository })] });
    const last = (): string =>
      execFileSync("git", ["--git-dir", repository, "log", "-1", "--format=%s", "main", "--", "page.html"]).toString();
    await expect.poll(() => files.ready().then(last, String)).toBe("Found /page.html\n");
    await files.close();
    expect(await readdir(spool)).toEqual([]);
  });

  it("waits longer for what came before while a process is there that may be about to note it", async () => {
    const directory = join(await temporaryDirectory({ HEAD: "" }), "spool");
    const [own, other] = [new Journal(directory), new Journal(directory)];
    const { committed, committing } = committingTo(directory, own);
    const change = async (journal: Journal, n: number): Promise<void> => {
      const version = { path: "/a.txt", kind: "written", summary: `${n}`, time: n } as const;
      await journal.add({ ...version, etag: `"${n}"`, follows: `"${n - 1}"` }, Buffer.from("a"));
    };
    const looks = vi.spyOn(JournalReader.prototype, "names");
    await change(other, 0);
    const ended = deferred();
    const living = diskLocks.run(join(directory, other.owner), () => ended.promise);
    committing.start();
    await expect.poll(() => committed).toEqual([0]);
    await change(own, 1);
    await expect.poll(() => committed).toEqual([0, 1]);
    await change(own, 3);
    const before = looks.mock.calls.length;
    await expect.poll(() => looks.mock.calls.length).toBeGreaterThan(before + 30); // three for each
    await change(other, 2);
    await expect.poll(() => committed).toEqual([0, 1, 2, 3]);
    ended.resolve();
    await living;
    await committing.close();
    await Promise.all([own.close(), other.close()]);
  });

  it("reads what was left a part at a time, and keeps the order of versions that are in several journals", async () => {
    const directory = join(await temporaryDirectory(), "spool");
    await writeFile(join(directory, "../HEAD"), "");
    const journals = [new Journal(directory), new Journal(directory)];
    const content = Buffer.alloc(1024 * 1024);
    for (let n = 0; n < 100; n += 1) {
      const version = { path: "/a.txt", kind: "written", summary: `${n}`, time: n, etag: `"${n}"` } as const;
      await journals[Math.floor(n / 20) % 2]?.add({ ...version, follows: n === 0 ? "" : `"${n - 1}"` }, content);
    }
    for (const journal of journals) await journal.close();
    const { committed, batches, committing, looked } = committingTo(directory, new Journal(directory));
    committing.start();
    await looked;
    await committing.close();
    expect(committed).toEqual(Array.from({ length: 100 }, (_, n) => n));
    expect(Math.max(...batches)).toBeLessThan(30);
  });
});

/** Makes commits in no repository, but in lists of the numbers of changes, and of how many came at once. */
function committingTo(directory: string, own: Journal) {
  const committed: number[] = [];
  const batches: number[] = [];
  const importer: Partial<Importer> = {
    imported: async () => new Map(),
    add: async ({ summary }) => void committed.push(Number(summary)),
    flush: async () => void batches.push(committed.length - batches.reduce((sum, each) => sum + each, 0)),
    close: async () => {},
  };
  const { promise: looked, resolve: look } = deferred();
  const others = { look: async () => look(), tidy: async () => {}, report: () => {}, maxBacklog: 1 };
  const committing = new Committing({ directory, own, importer: importer as Importer, ...others });
  return { committed, batches, committing, looked };
}

/** What is missing, doubled, changed or in the wrong place of what was answered. */
function wrongIn(commits: readonly Committed[], answered: readonly string[]): readonly string[] {
  const wrong: string[] = [];
  const byVersion = new Map<string, Committed[]>();
  for (const commit of commits) {
    byVersion.set(commit.version, [...(commit.version === "" ? [] : (byVersion.get(commit.version) ?? [])), commit]);
  }
  for (const line of answered) {
    const [method = "", path = "", etag = "", hash = ""] = line.split(" ");
    if (method === "DELETE") continue; // has no tag, and no commit where what it deleted was not answered
    const [{ content = Buffer.alloc(0), path: of = "" } = {}, ...others] = byVersion.get(etag) ?? [];
    const sent = method === "POST" ? content.subarray(content.lastIndexOf(10, content.length - 2) + 1) : content;
    const isRight = createHash("sha256").update(sent).digest("hex") === hash;
    if (of !== path || !isRight || others.length > 0) wrong.push(`${line}: ${1 + others.length} commits: ${content}`);
  }
  // A log only grows, so what it is in the end has the order of all changes.
  const logs = new Set(commits.map(({ path }) => path).filter((path) => path.startsWith("/log-")));
  for (const log of logs) {
    const versions = commits.filter(({ path }) => path === log).map(({ content = Buffer.alloc(0) }) => content);
    versions.reduce((before, now) => {
      const isGrown = now.length > before.length && now.subarray(0, before.length).equals(before);
      if (!isGrown) wrong.push(`${log}: ${before.subarray(-40)} before ${now.subarray(-40)}`);
      return now;
    });
  }
  return wrong;
}
