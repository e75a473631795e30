import { writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { diskStorage } from "../../../src/storage/disk/disk-storage.ts";
import { turnsUntil } from "../../helpers/counted-work.ts";
import { timesOf } from "../../helpers/effort.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";
import { namesAt } from "../content.ts";

describe("a directory of the disk", () => {
  it("leaves out temporary files", async () => {
    const root = await temporaryDirectory({ ".filement-0123abcd-1-ff.tmp": "", ".filement.html": "" });
    expect(await namesAt(diskStorage(root), "/")).toEqual([".filement.html"]);
  });

  it("leaves out names that no request can spell", { tags: ["linux"] }, async () => {
    const root = await temporaryDirectory();
    const names = ["ok.txt", "back\\slash", "line\nbreak", "escape\u001b[2J", "delete\u007f"];
    for (const name of names) await writeFile(join(root, name), "");
    expect(await namesAt(diskStorage(root), "/")).toEqual(["ok.txt"]);
  });

  it("leaves out names that are not UTF-8", { tags: ["linux"] }, async () => {
    const root = await temporaryDirectory();
    await writeFile(Buffer.concat([Buffer.from(`${root}/broken-`), Buffer.from([0xff])]), "");
    await writeFile(join(root, "whole-ÿ"), "");
    await writeFile(join(root, "whole-\ufffd"), ""); // as the text of the broken name has it, but this is the name
    expect(await namesAt(diskStorage(root), "/")).toEqual(["whole-ÿ", "whole-\ufffd"]);
  });

  it("leaves other work its turns while it lists thousands of entries", async () => {
    const root = await temporaryDirectory();
    const count = timesOf(1_500, 10_000);
    for (let number = 0; number < count; number += 1) writeFileSync(join(root, `${number}.txt`), "");
    const listing = namesAt(diskStorage(root), "/");
    expect(await turnsUntil(listing)).toBeGreaterThan(count / 100);
    expect(await listing).toHaveLength(count);
  });
});
