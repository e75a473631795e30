import { mkdir, rename, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { watchFile } from "../../src/cli/watch-file.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

/** Watches a file until the test is over; `next` waits for the next call, and tells how many there have been. */
async function watching(file: string): Promise<{ next: () => Promise<number>; calls: () => number; stop: () => void }> {
  let calls = 0;
  let told = 0;
  let wake = (): void => {};
  const stop = await watchFile(file, () => {
    calls += 1;
    wake();
  });
  onTestFinished(stop);
  const next = async (): Promise<number> => {
    while (calls === told) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    told = calls;
    return calls;
  };
  return { next, calls: () => calls, stop };
}

async function page(): Promise<{ directory: string; file: string }> {
  const directory = await temporaryDirectory();
  const file = join(directory, "config.html");
  await writeFile(file, "first");
  return { directory, file };
}

describe("watching a file", () => {
  it("tells of a file that is truncated and written in steps once", async () => {
    const { file } = await page();
    const { next } = await watching(file);
    await truncate(file);
    for (const text of ["a", "ab", "abc"]) await writeFile(file, text);
    expect(await next()).toBe(1);
  });

  it("tells of a file that is put in its place, and of the next one", async () => {
    const { directory, file } = await page();
    const { next } = await watching(file);
    for (const count of [1, 2]) {
      await writeFile(join(directory, ".config.html.swp"), `version ${count}`);
      await rename(join(directory, ".config.html.swp"), file);
      expect(await next()).toBe(count);
    }
  });

  it("tells of a file that is gone, and of its return", async () => {
    const { file } = await page();
    const { next } = await watching(file);
    await rm(file);
    expect(await next()).toBe(1);
    await writeFile(file, "again");
    expect(await next()).toBe(2);
  });

  it("tells of a link that is turned to another directory, as Kubernetes does it", async () => {
    const directory = await temporaryDirectory();
    for (const version of ["one", "two"]) {
      await mkdir(join(directory, version));
      await writeFile(join(directory, version, "config.html"), version);
    }
    await symlink("one", join(directory, "..data"));
    await symlink("..data/config.html", join(directory, "config.html"));
    const { next } = await watching(join(directory, "config.html"));
    await symlink("two", join(directory, "..data_tmp"));
    await rename(join(directory, "..data_tmp"), join(directory, "..data"));
    expect(await next()).toBe(1);
  });

  it("finds out about a change that nothing in its directory tells of", async () => {
    const { file } = await page();
    const link = join(await temporaryDirectory(), "config.html");
    await symlink(file, link);
    const { next } = await watching(link);
    await writeFile(file, "behind the link");
    expect(await next()).toBe(1);
  });

  it("is not bothered by other files of the directory", async () => {
    const { directory, file } = await page();
    const { next } = await watching(file);
    await writeFile(join(directory, "other.html"), "1");
    await writeFile(file, "second");
    expect(await next()).toBe(1);
  });

  it("says nothing after it was stopped, in the middle of a change", async () => {
    const { directory, file } = await page();
    const stopped = await watching(file);
    const other = await watching(file);
    await writeFile(file, "second");
    stopped.stop();
    await other.next();
    await writeFile(join(directory, "config.html"), "third");
    await other.next();
    expect(stopped.calls()).toBe(0);
  });

  it("works where the directory cannot be watched", async () => {
    const directory = join(await temporaryDirectory(), "later");
    const { next } = await watching(join(directory, "config.html"));
    await mkdir(directory);
    await writeFile(join(directory, "config.html"), "here");
    expect(await next()).toBe(1);
  });
});
