import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { diskStorage } from "../../src/storage/disk/disk-storage.ts";
import { DiskThread } from "../../src/storage/disk/disk-thread.ts";
import { received, resultsOf } from "../../src/storage/disk/sent-results.ts";
import type { Job, JobResult } from "../../src/storage/disk/write-programs.ts";
import { isCampaign } from "../helpers/effort.ts";
import { failAt } from "../helpers/faulty-disk.ts";
import type { Sending } from "../helpers/send.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";
import { onDisk, testSite } from "../helpers/test-site.ts";

const page = "<!doctype html><p id=a>old</p>";
const selector = { range: "selector=#a" };

interface Operation {
  readonly method: string;
  /** Below the directory of the step. */
  readonly target: string;
  readonly sending?: Sending;
  /** Files and directories before, and those after; the latter with a slash at the end, links with what they lead to. */
  readonly before: Readonly<Record<string, string>>;
  readonly after: Readonly<Record<string, string>>;
}

const operations: Readonly<Record<string, Operation>> = {
  "PUT of a new file": {
    method: "PUT",
    target: "a.txt",
    sending: { body: "new" },
    before: {},
    after: { "a.txt": "new" },
  },
  "PUT of a file to be created": {
    method: "PUT",
    target: "a.txt",
    sending: { body: "new", headers: { "if-none-match": "*" } },
    before: {},
    after: { "a.txt": "new" },
  },
  "PUT over a file": {
    method: "PUT",
    target: "a.txt",
    sending: { body: "new" },
    before: { "a.txt": "old" },
    after: { "a.txt": "new" },
  },
  "PUT below missing directories": {
    method: "PUT",
    target: "b/c/a.txt",
    sending: { body: "new" },
    before: {},
    after: { "b/": "", "b/c/": "", "b/c/a.txt": "new" },
  },
  "POST into a directory": {
    method: "POST",
    target: "",
    sending: { body: "new", headers: { "x-filename": "a.txt" } },
    before: {},
    after: { "a.txt": "new" },
  },
  "POST to a file": {
    method: "POST",
    target: "a.txt",
    sending: { body: " and new" },
    before: { "a.txt": "old" },
    after: { "a.txt": "old and new" },
  },
  "PUT of elements": {
    method: "PUT",
    target: "a.html",
    sending: { body: "<p id=a>new</p>", headers: selector },
    before: { "a.html": page },
    after: { "a.html": page.replace("old", "new") },
  },
  "POST into elements": {
    method: "POST",
    target: "a.html",
    sending: { body: "<b>new</b>", headers: selector },
    before: { "a.html": page },
    after: { "a.html": page.replace("old", "old<b>new</b>") },
  },
  "DELETE of elements": {
    method: "DELETE",
    target: "a.html",
    sending: { headers: selector },
    before: { "a.html": page },
    after: { "a.html": "<!doctype html>" },
  },
  "DELETE of a file": { method: "DELETE", target: "a.txt", before: { "a.txt": "old" }, after: {} },
  "DELETE of a directory": { method: "DELETE", target: "b/", before: { "b/": "" }, after: {} },
  "DELETE of a link": {
    method: "DELETE",
    target: "link.txt",
    before: { "a.txt": "old", "link.txt": "-> a.txt" },
    after: { "a.txt": "old" },
  },
};

async function prepare(directory: string, entries: Operation["before"]): Promise<void> {
  await mkdir(directory);
  for (const [name, text] of Object.entries(entries)) {
    if (name.endsWith("/")) await mkdir(join(directory, name));
    else if (text.startsWith("-> ")) await symlink(text.slice(3), join(directory, name));
    else await writeFile(join(directory, name), text);
  }
}

/** What is really there, but for the server's own temporary files, which nobody sees. */
async function found(directory: string): Promise<Record<string, string>> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
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

/** The calls of a job as the thread of a disk makes them, in this one. */
function withoutPool(): void {
  const run = async (job: Job): Promise<JobResult> => received((await resultsOf([job]))[0]);
  vi.spyOn(DiskThread.prototype, "run").mockImplementation(run);
  onTestFinished(() => void vi.restoreAllMocks());
}

describe.each([
  ["of the pool", false],
  ["of the thread", true],
] as const)("a system call %s that fails", (_, isSync) => {
  describe.each(codes)("with %s", (code) => {
    it.each(Object.keys(operations))(
      "in %s leaves reply, disk and feed in agreement, whichever call it is",
      async (name) => {
        if (isSync) withoutPool();
        const { method, target, sending, before, after } = operations[name] as Operation;
        const root = await temporaryDirectory();
        const site = await testSite(await onDisk(root), { onError: () => {} });
        await site.files.ready();
        const disagreements: unknown[] = [];
        let steps = 0;
        for (let isFailed = true; isFailed; ) {
          steps += 1;
          const directory = join(root, `${steps}`);
          await prepare(directory, before);
          const announcedBefore = site.changes.length;
          const disk = await failAt(steps, code, isSync);
          onTestFinished(() => disk.mend());
          const { status } = await site.send(method, `/${steps}/${target}`, sending);
          disk.mend();
          isFailed = disk.failed !== undefined;
          const isDone = status < 300;
          const isThere = JSON.stringify(await found(directory)) === JSON.stringify(isDone ? after : before);
          const isTold = site.changes.length - announcedBefore === (isDone ? 1 : 0);
          if (!isThere || !isTold) disagreements.push({ failed: disk.failed, status, found: await found(directory) });
          if (!isFailed) expect(status).toBeLessThan(300);
        }
        expect(disagreements).toEqual([]);
        expect(steps).toBeGreaterThan(8);
      },
    );
  });

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
