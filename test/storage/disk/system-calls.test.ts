import fs from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { call, inPool, type Program, syncDirectory, together } from "../../../src/storage/disk/system-calls.ts";
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
    expect(await together([nameOfDirectory(`${root}/b`), nameOfDirectory(`${root}/b`)])).toEqual([
      { value: "made" },
      { value: "failed: EEXIST" },
    ]);
  });

  it("fails with what it does not catch, alone", async () => {
    const root = await temporaryDirectory();
    const failing = (): Program<void> => call.rmdir(`${root}/none`);
    await expect(inPool(failing())).rejects.toMatchObject({ code: "ENOENT" });
    const [first, second] = await together<unknown>([failing(), nameOfDirectory(`${root}/a`)]);
    expect(first).toMatchObject({ error: { code: "ENOENT" } });
    expect(second).toEqual({ value: "made" });
  });

  it("shares the sync of a directory with those beside it, which all go on after it", async () => {
    const root = await temporaryDirectory();
    const syncs = counted("fsyncSync");
    const order: string[] = [];
    function* program(name: string): Program<void> {
      yield* call.mkdir(`${root}/${name}`);
      const file = yield* call.open(root, fs.constants.O_RDONLY);
      order.push(`made ${name}`);
      yield* syncDirectory(file, root);
      order.push(`synced ${name}`);
      yield* call.close(file);
    }
    await together(["a", "b", "c"].map(program));
    expect(syncs()).toBe(1);
    expect(order).toEqual(["made a", "made b", "made c", "synced a", "synced b", "synced c"]);
  });
});
