import { stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";
import { compiled } from "../compiled.ts";
import { printedBy } from "../printed-by.ts";

const program = compiled("use-thread");

describe("spare files", () => {
  it("are used where changes follow each other, are in nobody's way, and do not stay", async () => {
    const root = await temporaryDirectory();
    const made = (await printedBy(program(), root, "spare")) as { readonly count: number };
    expect(made).toEqual({
      count: expect.any(Number),
      isUsed: true,
      isKeptFromPrivate: true,
      afterLoss: "done",
      left: ["a.txt", "idle", "idle/d.txt"],
    });
    expect(made.count).toBeGreaterThan(10);
    expect((await stat(join(root, "a.txt"))).mode & 0o777).toBe(0o600);
  });
});
