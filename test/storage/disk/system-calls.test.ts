import { execFileSync } from "node:child_process";
import fs, { closeSync, constants, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { atOnce, call, inPool, type Program, withFile, writeAll } from "../../../src/storage/disk/system-calls.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";

function* nameOfDirectory(location: string): Program<string> {
  try {
    yield* call.mkdir(location);
    return "made";
  } catch (error) {
    return `failed: ${(error as NodeJS.ErrnoException).code}`;
  }
}

/** Counts the calls of a function of `node:fs`. */
function counted(name: "fsyncSync"): () => number {
  const original = fs[name];
  let count = 0;
  fs[name] = (file) => {
    count += 1;
    original(file);
  };
  onTestFinished(() => void Object.assign(fs, { [name]: original }));
  return () => count;
}

describe("a program of system calls", () => {
  it("does the same in the pool as at once", async () => {
    const root = await temporaryDirectory();
    expect(await inPool(nameOfDirectory(`${root}/a`))).toBe("made");
    expect(await inPool(nameOfDirectory(`${root}/a`))).toBe("failed: EEXIST");
    expect(await inPool(nameOfDirectory(`${root}/b`), atOnce)).toBe("made");
    expect(await inPool(nameOfDirectory(`${root}/b`), atOnce)).toBe("failed: EEXIST");
    for (const make of [undefined, atOnce]) {
      await expect(inPool(call.rmdir(`${root}/none`), make)).rejects.toMatchObject({ code: "ENOENT" });
    }
  });

  it("shares the sync of a directory with those beside it, which all go on after it", async () => {
    const root = await temporaryDirectory();
    const syncs = counted("fsyncSync");
    const order: string[] = [];
    function* program(name: string): Program<void> {
      yield* call.mkdir(`${root}/${name}`);
      const file = yield* call.open(root, fs.constants.O_RDONLY);
      order.push(`made ${name}`);
      yield { name: "fsync", values: [file], directory: root };
      order.push(`synced ${name}`);
      yield* call.close(file);
    }
    await Promise.all(["a", "b", "c"].map((name) => inPool(program(name), atOnce)));
    expect(syncs()).toBe(1);
    expect(order).toEqual(["made a", "made b", "made c", "synced a", "synced b", "synced c"]);
  });
});

describe("a file that is opened if it is there", () => {
  it("does not keep anyone waiting where it is a FIFO", { tags: ["mkfifo"] }, async () => {
    const fifo = join(await temporaryDirectory(), "fifo");
    execFileSync("mkfifo", [fifo]);
    function* isFifo(file: number): Program<boolean> {
      return (yield* call.fstat(file, { bigint: true })).isFIFO();
    }
    expect(await inPool(withFile(fifo, constants.O_RDONLY, isFifo))).toBe(true);
  });

  it("is written to the end, however little a call writes", async () => {
    const location = join(await temporaryDirectory(), "a.txt");
    const file = openSync(location, "w");
    let calls = 0;
    const program = writeAll(file, Buffer.from("0123456789"), null);
    for (let step = program.next(); !step.done; calls += 1) {
      const [opened, bytes, offset, , position] = step.value.values as [number, Buffer, number, number, null];
      step = program.next(writeSync(opened, bytes, offset, Math.min(3, bytes.length - offset), position));
    }
    closeSync(file);
    expect([calls, readFileSync(location, "utf8")]).toEqual([4, "0123456789"]);
  });
});
