import { execFileSync } from "node:child_process";
import { closeSync, constants, fstatSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openIfThere, writeAll } from "../../../src/storage/disk/file-calls.ts";
import { inPool } from "../../../src/storage/disk/system-calls.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";

describe("a file that is opened if it is there", () => {
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
