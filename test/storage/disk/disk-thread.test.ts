import { execFile } from "node:child_process";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { diskLocks } from "../../../src/storage/disk/disk-locks.ts";
import { resultsOf } from "../../../src/storage/disk/disk-thread.ts";
import { permissionFlag } from "../../helpers/permission-flag.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";
import { compiled } from "../compiled.ts";

const run = promisify(execFile);
const script = compiled("use-thread");

/** Runs a program that uses the compiled storage, and gives what it prints. */
async function printed(root: string, what: string, flags: readonly string[] = []): Promise<unknown> {
  const { stdout } = await run(process.execPath, [...flags, script(), root, what]);
  return JSON.parse(stdout);
}

describe("the thread of a disk", () => {
  it("makes the changes once it runs, and lets the process end", async () => {
    const root = await temporaryDirectory();
    expect(await printed(root, "write")).toEqual({ threadCalls: expect.any(Number), mainCalls: 0, failures: [] });
    expect(await readFile(join(root, "a.txt"), "utf8")).toBe("4");
    expect(await readdir(root)).toEqual(["a.txt"]);
  });

  it("makes files beforehand where changes follow each other, which are in nobody's way and do not stay", async () => {
    const root = await temporaryDirectory();
    const left = ["a.txt", "idle", "idle/d.txt"];
    const expected = { isEnough: true, isUsed: true, isKeptFromPrivate: true, afterLoss: "done", left };
    expect(await printed(root, "spare")).toEqual(expected);
    expect((await stat(join(root, "a.txt"))).mode & 0o777).toBe(0o600);
  });

  it("and one look are all that an edit of a known page takes", async () => {
    const root = await temporaryDirectory();
    expect(await printed(root, "edit")).toEqual({ status: 206, threadCalls: 1, mainCalls: 1 });
    expect(await readFile(join(root, "page.html"), "utf8")).toBe("<title>third</title>");
  });

  it("is replaced when it dies; the outcome of its last changes is not known, and those that waited are made", async () => {
    const root = await temporaryDirectory();
    const expected = { died: "outcome-unknown", waiting: "done", after: "done", isReplaced: true };
    expect(await printed(root, "die")).toEqual(expected);
    expect(await readFile(join(root, "b.txt"), "utf8")).toBe("after");
  });

  it("that a dead disk holds up gives 503, holds up no other, and ends what it began when that answers", async () => {
    const root = await temporaryDirectory();
    expect(await printed(root, "stop")).toEqual({
      stopped: "outcome-unknown",
      meanwhile: "unavailable",
      after: "done",
    });
  });

  it("is done without where threads are not allowed", async () => {
    const root = await temporaryDirectory();
    const flags = [permissionFlag, "--allow-fs-read=*", "--allow-fs-write=*"];
    expect(await printed(root, "write", flags)).toMatchObject({ threadCalls: 0, failures: [] });
    expect(await readFile(join(root, "a.txt"), "utf8")).toBe("4");
  });

  it("lets a storage be closed, and its process end, while a change waits for another process", async () => {
    const root = await temporaryDirectory();
    await diskLocks.run(join(root, "locked.txt"), async () => {
      expect(await printed(root, "wait")).toEqual({ waiting: "busy" });
    });
    expect(await readdir(root)).toEqual(["a.txt"]);
  });

  it("sends errors as they were thrown", async () => {
    const root = await temporaryDirectory({ a: "" });
    const place = { directory: root, name: "b", expected: undefined, sync: false };
    const [found] = await resultsOf([{ kind: "append", ...place, content: Buffer.from("x"), keepsNote: false }]);
    expect(found).toEqual({ value: { isDone: false, record: undefined, hasNote: false, problems: [] } });
    const [failed] = await resultsOf([
      { kind: "replace", ...place, missing: ["a"], content: Buffer.from("x"), temporary: ".filement-x.tmp", moment: 1 },
    ]);
    expect(failed).toMatchObject({ error: { storage: "conflict" } });
  });
});
