import { mkdir, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { look } from "../../../src/storage/disk/look.ts";
import { DiskPaths } from "../../../src/storage/disk/paths.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";

/** A root with `/dir/a.txt` and a link `/link` to `/dir`; `seen` are the places that a look came to. */
async function place() {
  const paths = new DiskPaths(await temporaryDirectory(), "within-root");
  await mkdir(join(paths.root, "dir"));
  await writeFile(join(paths.root, "dir", "a.txt"), "a");
  await symlink("dir", join(paths.root, "link"));
  const seen: string[] = [];
  const seeing = (path: string, answer: (name: string) => Promise<"elsewhere" | "here">) =>
    look({ paths }, path, async (directory, name) => {
      seen.push(join(directory.real, name).slice(paths.root.length));
      return answer(name);
    });
  return { root: paths.root, seen, seeing };
}

describe("a look at a path", () => {
  it("goes straight to its directory, and by way of the real one where a link is on the way", async () => {
    const { seen, seeing } = await place();
    for (const path of ["/dir/a.txt", "/link/a.txt", "/", "/dir/"]) {
      expect(await seeing(path, async () => "here")).toBe("here");
    }
    expect(seen).toEqual(["/dir/a.txt", "/dir/a.txt", "", "/dir"]);
  });

  it("sees nothing where no directory is", async () => {
    const { seen, seeing } = await place();
    expect(await seeing("/no/a.txt", async () => "here")).toBeUndefined();
    expect(seen).toEqual([]);
  });

  it("is begun anew where what was there has moved, and given up where it never comes to rest", async () => {
    const { root, seen, seeing } = await place();
    const moved = await seeing("/dir/a.txt", async () => {
      if (seen.length > 1) return "here";
      await rename(join(root, "dir"), join(root, "moved"));
      await symlink("moved", join(root, "dir"));
      return "elsewhere";
    });
    expect([moved, seen]).toEqual(["here", ["/dir/a.txt", "/moved/a.txt"]]);
    expect(await seeing("/moved/a.txt", async () => "elsewhere")).toBeUndefined();
  });
});
