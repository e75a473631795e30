import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { diskStorage } from "../../src/storage/disk/disk-storage.ts";
import { DiskThread, received, resultsOf } from "../../src/storage/disk/disk-thread.ts";
import type { Job, JobResult } from "../../src/storage/disk/jobs.ts";
import { isCampaign } from "../helpers/effort.ts";
import { failAt } from "../helpers/faulty-disk.ts";
import type { Sending } from "../helpers/send.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";
import { entriesBelow, onDisk, testSite } from "../helpers/test-site.ts";

const page = "<!doctype html><p id=a>old</p>";
const selector = { range: "selector=#a" };
const ifMissing = { "if-none-match": "*" };

/** Files and directories below a directory: the latter with a slash at the end, links with what they lead to. */
type Entries = Readonly<Record<string, string>>;

/** What is asked for below the directory of a step, and what is in there before and after it. */
type Operation = readonly [string, string, string, before: Entries, after: Entries, sending?: Sending];

function ofElements(method: string, after: string, body?: string): Operation {
  const sending = { headers: selector, ...(body !== undefined && { body }) };
  return [`${method} of elements`, method, "a.html", { "a.html": page }, { "a.html": after }, sending];
}

const operations: readonly Operation[] = [
  ["PUT of a new file", "PUT", "a.txt", {}, { "a.txt": "new" }, { body: "new" }],
  ["PUT of a file to be created", "PUT", "a.txt", {}, { "a.txt": "new" }, { body: "new", headers: ifMissing }],
  ["PUT over a file", "PUT", "a.txt", { "a.txt": "old" }, { "a.txt": "new" }, { body: "new" }],
  ["PUT below missing folders", "PUT", "b/c/a.txt", {}, { "b/": "", "b/c/": "", "b/c/a.txt": "new" }, { body: "new" }],
  ["POST into a directory", "POST", "", {}, { "a.txt": "new" }, { body: "new", headers: { "x-filename": "a.txt" } }],
  ["POST to a file", "POST", "a.txt", { "a.txt": "old" }, { "a.txt": "old and new" }, { body: " and new" }],
  ofElements("PUT", page.replace("old", "new"), "<p id=a>new</p>"),
  ofElements("POST", page.replace("old", "old<b>new</b>"), "<b>new</b>"),
  ofElements("DELETE", "<!doctype html>"),
  ["DELETE of a file", "DELETE", "a.txt", { "a.txt": "old" }, {}],
  ["DELETE of a directory", "DELETE", "b/", { "b/": "" }, {}],
  ["DELETE of a link", "DELETE", "link.txt", { "a.txt": "old", "link.txt": "-> a.txt" }, { "a.txt": "old" }],
];

async function prepare(directory: string, entries: Entries): Promise<void> {
  await mkdir(directory);
  for (const [name, text] of Object.entries(entries)) {
    if (name.endsWith("/")) await mkdir(join(directory, name));
    else if (text.startsWith("-> ")) await symlink(text.slice(3), join(directory, name));
    else await writeFile(join(directory, name), text);
  }
}

/** What is really there, but for the server's own temporary files, which nobody sees. */
async function found(directory: string): Promise<Record<string, string>> {
  const entries = await entriesBelow(directory);
  const visible = entries.filter(({ name }) => !name.startsWith(".filement-"));
  const named = visible.map(async (entry) => {
    const name = join(entry.parentPath, entry.name).slice(directory.length + 1);
    if (entry.isDirectory()) return [`${name}/`, ""];
    if (entry.isSymbolicLink()) return [name, "-> a.txt"];
    return [name, await readFile(join(directory, name), "utf8")];
  });
  return Object.fromEntries((await Promise.all(named)).sort());
}

const codes = isCampaign
  ? ["EIO", "EDQUOT", "ENOSPC", "EMFILE", "EACCES", "EPERM", "EROFS", "ENOENT", "EEXIST"]
  : ["EIO"];

/** Between the calls that fail, one after the other; where it begins is another for each operation. */
const stride = isCampaign ? 1 : 3;

/** The calls of a job as the thread of a disk makes them, in this one. */
function withoutPool(): void {
  const run = async (job: Job): Promise<JobResult> => {
    const [result] = (await resultsOf([job])).map(received);
    if (result && "value" in result) return result.value;
    throw result?.error;
  };
  vi.spyOn(DiskThread.prototype, "run").mockImplementation(run);
  onTestFinished(() => void vi.restoreAllMocks());
}

describe.each([
  ["of the pool", false],
  ["of the thread", true],
] as const)("a system call %s that fails", (_, isSync) => {
  describe.each(codes)("with %s", (code) => {
    it.each(operations.map((operation, index) => [operation[0], operation, 1 + (index % stride)] as const))(
      "in %s leaves reply, disk and feed in agreement, whichever call it is",
      async (_name, [, method, target, before, after, sending], first) => {
        if (isSync) withoutPool();
        const root = await temporaryDirectory();
        const site = await testSite(await onDisk(root), { onError: () => {} });
        await site.files.ready();
        const disagreements: unknown[] = [];
        let step = first;
        for (let isFailed = true; isFailed; step += stride) {
          const directory = join(root, `${step}`);
          await prepare(directory, before);
          const announcedBefore = site.changes.length;
          const disk = await failAt(step, code, isSync);
          onTestFinished(() => disk.mend());
          const { status } = await site.send(method, `/${step}/${target}`, sending);
          disk.mend();
          isFailed = disk.failed !== undefined;
          const isDone = status < 300;
          const isThere = JSON.stringify(await found(directory)) === JSON.stringify(isDone ? after : before);
          const isTold = site.changes.length - announcedBefore === (isDone ? 1 : 0);
          if (!isThere || !isTold) disagreements.push({ failed: disk.failed, status, found: await found(directory) });
          if (!isFailed) expect(status).toBeLessThan(300);
        }
        expect(disagreements).toEqual([]);
        expect(step).toBeGreaterThan(8);
      },
    );
  });
});

describe("a system call that fails", () => {
  it("during an append has no later append lost by a restart, whichever call it is", async () => {
    const root = await temporaryDirectory();
    const file = join(root, "log.txt");
    for (let step = 1, isFailed = true; isFailed; step += 1) {
      await writeFile(file, "old\n");
      const site = await testSite(await onDisk(root), { onError: () => {} });
      await site.files.ready();
      const disk = await failAt(step, "EIO");
      onTestFinished(() => disk.mend());
      const { status } = await site.send("POST", "/log.txt", { body: "first\n" });
      disk.mend();
      isFailed = disk.failed !== undefined;
      for (let count = 1; count <= 3; count += 1) await site.send("POST", "/log.txt", { body: `later ${count}\n` });
      await diskStorage(root).start?.();
      const expected = `old\n${status === 200 ? "first\n" : ""}later 1\nlater 2\nlater 3\n`;
      expect([disk.failed, await readFile(file, "utf8")]).toEqual([disk.failed, expected]);
      await site.files.close();
    }
  });

  it("after the change was made is reported", async () => {
    const root = await temporaryDirectory();
    const reported: unknown[] = [];
    const site = await testSite(await onDisk(root), { onError: (error) => reported.push(error) });
    await site.files.ready();
    let made = 0;
    for (let step = 1, isFailed = true; isFailed; step += 1) {
      const disk = await failAt(step, "EIO");
      onTestFinished(() => disk.mend());
      reported.length = 0;
      const { status } = await site.send("PUT", `/${step}.txt`, { body: "new" });
      disk.mend();
      isFailed = disk.failed !== undefined;
      if (status === 201 && disk.failed?.startsWith("fsync")) made += reported.length;
    }
    expect(made).toBe(1);
  });
});
