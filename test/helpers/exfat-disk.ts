import { execFile } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll } from "vitest";
import type { Need } from "./needs.ts";

const run = promisify(execFile);

/** What a test needs that takes place on an {@link exfatDisk}. */
export const exfatNeeds: Need[] = ["mkfs.exfat", "mount.exfat-fuse", "mounts"];

/**
 * Mounts a disk for the tests of this `describe`, as one finds it on memory cards and USB sticks: it ignores case, has no hard links, no
 * owners, and inode numbers that are another one for each name and mount. Gives a function that makes a directory on it, with files.
 */
export function exfatDisk(): (files?: Readonly<Record<string, string>>) => Promise<string> {
  let place = "";
  let device = "";
  let made = 0;
  const root = (): string => join(place, "disk");
  beforeAll(async () => {
    place = await mkdtemp(join(await realpath(tmpdir()), "filement-disk-"));
    await mkdir(root());
    const image = join(place, "image");
    await writeFile(image, "");
    await truncate(image, 32 * 1024 * 1024);
    await run("mkfs.exfat", [image]);
    device = (await run("losetup", ["--find", "--show", image])).stdout.trim();
    await run("mount.exfat-fuse", [device, root()]);
  });
  afterAll(async () => {
    await run("umount", ["--lazy", root()]).catch(notMounted);
    if (device) await run("losetup", ["--detach", device]);
    await rm(place, { recursive: true, force: true });
  });
  return async (files = {}) => {
    made += 1;
    const directory = join(root(), `Root-${made}`);
    await mkdir(directory);
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(directory, path)), { recursive: true });
      await writeFile(join(directory, path), text);
    }
    return directory;
  };
}

/** The failure before it is the one to see. */
function notMounted(): void {}
