import { mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createFileServer } from "../../../src/file-server.ts";
import { diskStorage } from "../../../src/storage/disk/disk-storage.ts";
import { exfatDisk, exfatNeeds } from "../../helpers/exfat-disk.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";

/** What a process of another machine left behind long ago, were it not for its time. */
const leftover = ".filement-00000000-1-ab.tmp";

/** A root with so many directories, in each of which lies a file that another process left behind long ago. */
async function littered(count: number): Promise<string> {
  const root = await temporaryDirectory();
  for (let i = 0; i < count; i += 1) await litter(join(root, String(i)));
  return root;
}

async function litter(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, leftover), "");
}

/** From now on files that were made before are old. */
function lateAsItGets(): void {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3_600_000 });
  onTestFinished(() => void vi.useRealTimers());
}

async function litteredIn(root: string): Promise<string[]> {
  const names = await readdir(root, { recursive: true });
  return names.filter((name) => name.endsWith(leftover)).map((name) => dirname(name));
}

describe("a start over many directories", () => {
  it("waits for the first hundred of them; the others are tidied afterwards", async () => {
    const root = await littered(130);
    lateAsItGets();
    const storage = diskStorage(root);
    await storage.start?.();
    expect(await litteredIn(root)).not.toEqual([]);
    await expect.poll(() => litteredIn(root)).toEqual([]);
    await storage.close?.();
  });

  it("ends when the storage is closed", async () => {
    const root = await littered(200);
    lateAsItGets();
    const storage = diskStorage(root);
    await storage.start?.();
    await storage.close?.();
    const left = await litteredIn(root);
    for (let look = 0; look < 10; look += 1) expect(await litteredIn(root)).toEqual(left);
    expect(left.length).toBeGreaterThan(50);
  });
});

describe("a start", () => {
  it("tidies nothing where nothing can be written", async () => {
    const root = await littered(3);
    lateAsItGets();
    const files = createFileServer({ root, readOnly: true });
    await files.ready();
    await files.close();
    expect(await litteredIn(root)).toHaveLength(3);
  });

  describe("in a root with another file system in it", { tags: exfatNeeds }, () => {
    const directoryOnDisk = exfatDisk();

    it("leaves that alone", async () => {
      const disk = dirname(await directoryOnDisk());
      await litter(disk);
      const root = dirname(disk);
      await litter(join(root, "own"));
      lateAsItGets();
      const storage = diskStorage(root);
      await storage.start?.();
      expect(await litteredIn(root)).toEqual(["disk"]);
      await storage.close?.();
    });
  });
});
