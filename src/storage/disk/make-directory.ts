import { requireHeld } from "../locks.ts";
import { StorageError } from "../storage.ts";
import type { Disk } from "./disk.ts";
import { locked } from "./locked-target.ts";

export async function makeDirectory(disk: Disk, path: string): Promise<void> {
  await locked(disk, path, performance.now(), async ({ directory, missing, name, real, held }) => {
    if (real === disk.paths.root) throw new StorageError("exists");
    if (missing.length > 0) throw new StorageError("no-parent");
    requireHeld(held);
    const result = await disk.run({ kind: "make-directory", directory, name, sync: disk.sync });
    if (result.kind === "found") throw new StorageError("exists");
    return result.kind === "done" ? "done" : "elsewhere";
  });
}
