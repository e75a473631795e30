// Run as a process of its own: node use-thread.js <root> <what>. Writes by way of the thread of the disk, and prints as JSON what
// became of it. The thread can be kept from its work, as by a disk that does not answer.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { dirname, join } from "node:path";
import threads, { type Worker } from "node:worker_threads";
import { content } from "./content.ts";

const [, , root = "", what = ""] = process.argv;
let threadCalls = 0;
let mainCalls = 0;
let held: (() => void)[] | undefined;
let thread: Worker | undefined;
const { Worker: OriginalWorker } = threads;
class WatchedWorker extends OriginalWorker {
  constructor(...values: ConstructorParameters<typeof OriginalWorker>) {
    super(...values);
    thread = this;
  }

  override postMessage(jobs: readonly unknown[]): void {
    threadCalls += jobs.length;
    if (held) held.push(() => super.postMessage(jobs));
    else super.postMessage(jobs);
  }
}
Object.assign(threads, { Worker: WatchedWorker });
type Calls = Record<string, (...values: unknown[]) => unknown>;
const callbacks = ["open", "lstat", "fstat", "rename", "close", "unlink"].map((name) => [fs, name]);
for (const [calls, name] of [...callbacks, [fs.promises, "open"]] as unknown as [Calls, string][]) {
  const original = calls[name];
  calls[name] = (...values) => {
    mainCalls += 1;
    return original?.(...values);
  };
}
const { setTimeout: originalTimeout } = globalThis;
/** The half minute for which a disk may be silent is over in a moment, only where a
 * test is about that, and keeps the thread from its work: a busy machine is not a silent disk. */
globalThis.setTimeout = ((task: () => void, ms: number) =>
  originalTimeout(task, what === "stop" && held && ms === 30_000 ? 100 : ms)) as typeof setTimeout;
syncBuiltinESMExports();

const { diskStorage } = await import("../../src/storage/disk/disk-storage.ts");
const storage = diskStorage(root, { durability: "permission" in process ? "rename" : "fsync" }); // Node 26 syncs nothing then
const write = (path: string, text: string): Promise<string> =>
  storage.write(path, content(text)).then(
    () => "done",
    ({ code }: { code: string }) => code,
  );

/** Until the thread runs, the calls are made by the pool. One that has ended has no number. */
async function begun(): Promise<void> {
  await write("/a.txt", "0");
  while (thread && thread.threadId >= 0 && threadCalls === 0) await write("/a.txt", "0");
  mainCalls = 0;
}

const uses: Readonly<Record<string, () => Promise<unknown>>> = {
  async write() {
    const outcomes = [];
    for (let count = 1; count <= 4; count += 1) outcomes.push(await write("/a.txt", `${count}`));
    return { threadCalls, mainCalls, failures: outcomes.filter((outcome) => outcome !== "done") };
  },
  async edit() {
    const { createFileServer } = await import("../../src/file-server.ts");
    const files = createFileServer({ storage });
    await write("/page.html", "<title>old</title>");
    const edit = (title: string): Promise<Response> => {
      const headers = { range: "selector=title" };
      const request = new Request("http://localhost/page.html", {
        method: "PUT",
        headers,
        body: `<title>${title}</title>`,
      });
      return files.fetch(request);
    };
    for (const title of ["first", "second"]) await edit(title);
    [threadCalls, mainCalls] = [0, 0];
    const { status } = await edit("third");
    return { status, threadCalls, mainCalls };
  },
  async die() {
    held = [];
    const dying = write("/a.txt", "dying");
    while (held.length === 0) await new Promise(setImmediate);
    const waiting = write("/b.txt", "waiting");
    await new Promise(setImmediate);
    held = undefined;
    const dead = thread;
    await dead?.terminate();
    const outcomes = { died: await dying, waiting: await waiting, after: await write("/b.txt", "after") };
    return { ...outcomes, isReplaced: thread !== dead };
  },
  async wait() {
    const waiting = write("/locked.txt", "waiting");
    await new Promise(setImmediate);
    await storage.close?.();
    return { waiting: await waiting };
  },
  async spare() {
    const inode = (path: string): number => fs.statSync(root + path).ino;
    const spares = (directory = ""): string[] =>
      fs.readdirSync(root + directory).filter((name) => name.startsWith(".filement-spare-"));
    const oftenEnough = async (path: string): Promise<number[]> => {
      for (let count = 1; ; count += 1) {
        await write(path, `${count}`);
        await new Promise(setImmediate);
        const found = spares(dirname(path)).map((name) => inode(join(dirname(path), name)));
        if (found.length > 0) return [count, ...found];
      }
    };
    const [count = 0, ...made] = await oftenEnough("/a.txt");
    await write("/a.txt", "used");
    const isUsed = made.includes(inode("/a.txt"));

    fs.chmodSync(`${root}/a.txt`, 0o600);
    const others = spares().map((name) => inode(`/${name}`));
    await write("/a.txt", "private");
    const isKeptFromPrivate = !others.includes(inode("/a.txt"));

    await oftenEnough("/a.txt");
    for (const name of spares()) fs.unlinkSync(`${root}/${name}`);
    const afterLoss = await write("/a.txt", "after");

    await oftenEnough("/old/b.txt");
    await storage.move?.("/old/", "/new/");
    await oftenEnough("/new/c.txt");
    for (const path of ["/new/b.txt", "/new/c.txt", "/new/"]) await storage.remove(path);

    await oftenEnough("/idle/d.txt");
    while (spares("/idle").length > 0) await new Promise(setImmediate);
    await oftenEnough("/a.txt");
    await storage.close?.();
    const left = fs.readdirSync(root, { recursive: true }).map(String).sort();
    return { isEnough: count > 10, isUsed, isKeptFromPrivate, afterLoss, left };
  },
  async stop() {
    held = [];
    const stopped = write("/a.txt", "stopped");
    const outcome = await stopped;
    const meanwhile = await write("/b.txt", "meanwhile");
    const released = held;
    held = undefined;
    for (const release of released) release();
    let after = await write("/c.txt", "after");
    while (after !== "done") {
      await new Promise(setImmediate);
      after = await write("/c.txt", "after");
    }
    return { stopped: outcome, meanwhile, after };
  },
};

await begun();
console.log(JSON.stringify(await uses[what]?.()));
