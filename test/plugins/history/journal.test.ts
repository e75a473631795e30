import { appendFile, type FileHandle, mkdir, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { Journal, JournalReader } from "../../../src/plugins/history/journal.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";

const record = (path: string) => ({ path, kind: "written", summary: `PUT ${path}`, time: 1 }) as const;

describe("Journal", () => {
  it("writes what a write has left out, and gives no record that a crash has cut short", async () => {
    const directory = join(await temporaryDirectory(), "spool");
    const journal = new Journal(directory);
    const other = await open(join(directory, "../HEAD"), "a");
    const cutShort = vi.spyOn(Object.getPrototypeOf(other) as FileHandle, "writev");
    cutShort.mockImplementationOnce(async function (this: FileHandle, [first = Buffer.of()]) {
      return { ...(await this.write(first)), buffers: [] };
    });
    await journal.add(record("/a"), Buffer.from("a"));
    expect(cutShort).toHaveBeenCalledOnce();
    cutShort.mockRestore();
    await Promise.all([other.close(), journal.close()]);
    const [name = ""] = await readdir(directory);
    await appendFile(join(directory, name), Buffer.from([0, 0, 0, 9, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 1]));
    const reader = new JournalReader(directory);
    expect((await reader.next(name)).map(({ path }) => path)).toEqual(["/a"]);
    expect(await reader.next(name)).toEqual([]);
  });

  it("keeps in memory what comes while the repository is away, makes nothing in its place, and writes it later", async () => {
    const place = await temporaryDirectory();
    const [report, directory] = [vi.fn(), join(place, "site.git", "spool")];
    const journal = new Journal(directory, { report });
    await journal.add(record("/a"), Buffer.from("a"));
    await journal.add(record("/b"), Buffer.from("b"));
    const trying = expect(journal.retry()).rejects.toThrow("ENOENT");
    await null; // the try is under way
    expect([report.mock.calls.length, journal.unwritten > 0]).toEqual([1, true]);
    await trying;
    expect(await readdir(place)).toEqual([]);
    await mkdir(join(place, "site.git"));
    await appendFile(join(place, "site.git", "HEAD"), "");
    await journal.retry();
    const reader = new JournalReader(directory);
    const read = await reader.next((await reader.names())[0] ?? "");
    void journal.add(record("/c"), Buffer.of());
    await null; // the write is under way, and the next record waits for it
    void journal.add(record("/d"), Buffer.of());
    expect([journal.unwritten, ...read.map(({ path }) => path)]).toEqual([0, "/a", "/b"]);
    await journal.close();
  });
});
