import { appendFile, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Journal, JournalReader } from "../../../src/plugins/history/journal.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";

const record = (path: string) => ({ path, kind: "written", summary: `PUT ${path}`, time: 1 }) as const;

describe("Journal", () => {
  it("gives no record that a crash has cut short", async () => {
    const directory = join(await temporaryDirectory(), "spool");
    await appendFile(join(directory, "../HEAD"), "");
    const journal = new Journal(directory);
    await journal.add(record("/a"), Buffer.from("a"));
    await journal.close();
    const [name = ""] = await readdir(directory);
    await appendFile(join(directory, name), Buffer.from([0, 0, 0, 9, 0, 0, 0, 9, 1]));
    const reader = new JournalReader(directory);
    expect((await reader.next(name)).map(({ path }) => path)).toEqual(["/a"]);
    expect(await reader.next(name)).toEqual([]);
  });

  it("keeps in memory what comes while the repository is away, makes nothing in its place, and writes it later", async () => {
    const place = await temporaryDirectory();
    const directory = join(place, "site.git", "spool");
    const journal = new Journal(directory);
    await expect(journal.add(record("/a"), Buffer.from("a"))).rejects.toThrow();
    expect(journal.unwritten).toBeGreaterThan(0);
    expect(await readdir(place)).toEqual([]);
    await mkdir(join(place, "site.git"));
    await appendFile(join(place, "site.git", "HEAD"), "");
    await journal.retry();
    expect(journal.unwritten).toBe(0);
    const reader = new JournalReader(directory);
    const [name = ""] = await reader.names();
    expect((await reader.next(name)).map(({ path }) => path)).toEqual(["/a"]);
    await journal.close();
  });
});
