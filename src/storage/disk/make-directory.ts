import { StorageError } from "../storage.ts";
import type { Disk } from "./disk.ts";
import { locked } from "./locked-target.ts";

/** Makes a directory in one that exists. */
export async function makeDirectory(disk: Disk, path: string): Promise<void> {
  await locked(disk, path, performance.now(), async ({ directory, missing, name, real, held }) => {
    if (real === disk.paths.root) throw new StorageError("exists");
    if (missing.length > 0) throw new StorageError("no-parent");
    if (held?.isOver?.()) throw new StorageError("busy", new Error("the lock of the file has run out"));
    const result = await disk.thread.run({ kind: "make-directory", directory, name, sync: disk.sync });
    if (result.kind === "found") throw new StorageError("exists");
    if (result.kind !== "done") return "elsewhere";
    for (const problem of result.problems) disk.report(problem);
    return "done";
  });
}
