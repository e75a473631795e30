import { execFileSync } from "node:child_process";
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openIfThere, readInto, recordAt, writeAll } from "../../../src/storage/disk/file-calls.ts";
import { inPool } from "../../../src/storage/disk/system-calls.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";

describe("a file that is opened if it is there", () => {
  it("can be read, or written as well", async () => {
    const location = join(await temporaryDirectory(), "a.txt");
    writeFileSync(location, "old");
    const reading = (await inPool(openIfThere(location, constants.O_RDONLY))) ?? 0;
    expect(() => writeSync(reading, "x")).toThrow("EBADF");
    const writing = (await inPool(openIfThere(location, constants.O_RDWR))) ?? 0;
    await inPool(writeAll(writing, Buffer.from("new"), 0));
    const memory = Buffer.alloc(5);
    expect(await inPool(readInto(reading, memory, 1))).toBe(2);
    expect(memory.toString("utf8", 0, 2)).toBe("ew");
    for (const each of [reading, writing]) closeSync(each);
    expect(readFileSync(location, "utf8")).toBe("new");
  });

  it("is none where there is nothing, or a link", async () => {
    const root = await temporaryDirectory();
    writeFileSync(join(root, "a.txt"), "");
    symlinkSync("a.txt", join(root, "link.txt"));
    for (const name of ["no.txt", "a.txt/b.txt", "link.txt"]) {
      expect(await inPool(openIfThere(join(root, name), constants.O_RDONLY))).toBeUndefined();
    }
    expect(await inPool(recordAt(join(root, "no.txt")))).toBeUndefined();
  });

  it("does not keep anyone waiting where it is a FIFO", { tags: ["mkfifo"] }, async () => {
    const fifo = join(await temporaryDirectory(), "fifo");
    execFileSync("mkfifo", [fifo]);
    const file = (await inPool(openIfThere(fifo, constants.O_RDONLY))) ?? 0;
    expect(fstatSync(file).isFIFO()).toBe(true);
    closeSync(file);
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
