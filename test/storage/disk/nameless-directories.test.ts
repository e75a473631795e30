import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { afterAll, describe, expect, it, vi } from "vitest";
import { isCampaign } from "../../helpers/effort.ts";

// As on a system that does not tell where an open directory lies: macOS, Windows, a container without /proc. The modules are
// loaded anew, since they ask when they are loaded.
const { existsSync } = fs;
Object.assign(fs, { existsSync: (path: string) => path !== "/proc/self/fd" && existsSync(path) });
syncBuiltinESMExports();
vi.resetModules();
const { eachSwap, operations, outsideBefore } = await import("../swapped-directories.ts");
const { isTold } = await import("../../../src/storage/disk/directory.ts");
isTold();
Object.assign(fs, { existsSync });
syncBuiltinESMExports();
afterAll(() => void vi.resetModules());

/** Between the steps that `npm test` tries; there are about a hundred of some operations. */
const stride = isCampaign ? 1 : 29;

/** What removes names: one may be another directory's at that very call, see docs/security.md. */
const removing = ["remove", "start"];
const others = Object.keys(operations).filter((name) => !removing.includes(name));

it("is not told where an open directory lies", () => {
  expect(isTold()).toBe(false);
});

describe.each(["for good", "for one call"] as const)(
  "where only names lead to directories, one that is swapped for a link %s",
  { tags: ["posix"] },
  (swap) => {
    it.each(others)("lets %s show nothing of what lies outside, and store nothing there", async (name) => {
      for await (const { step, outside } of eachSwap(name, swap, stride))
        expect([step, outside]).toEqual([step, { ...outsideBefore, empty: expect.any(Array) }]);
    });

    it.each(removing)("lets %s show nothing of what lies outside, and remove it at one call at most", async (name) => {
      const changedAt: number[] = [];
      for await (const { step, outside } of eachSwap(name, swap, isCampaign ? 1 : 7))
        if (outside.names.length < outsideBefore.names.length) changedAt.push(step);
      expect(changedAt.length).toBeLessThan(2);
    });
  },
);
