import { createHash } from "node:crypto";
import type { Storage } from "../../storage/storage.ts";
import type { HistoryParts } from "./answers.ts";
import { openedFile } from "./recorder.ts";

/** Notes files that the latest commit does not have as they are: all at first, later those changed without a server. */
export async function recordFiles(
  storages: Iterable<Storage>,
  { versions, recorder, maxFileBytes }: Pick<HistoryParts, "versions" | "recorder" | "maxFileBytes">,
): Promise<void> {
  const known = new Map(await versions.tree());
  for (const storage of storages) {
    for await (const path of filesBelow(storage, "/")) {
      if (!versions.covers(path)) continue;
      const before = known.get(path);
      known.delete(path);
      await openedFile(storage, path, maxFileBytes, async (file) => {
        const content = await file.bytes();
        const algorithm = before?.length === 64 ? "sha256" : "sha1"; // as the repository has it
        const blob = createHash(algorithm).update(`blob ${content.byteLength}\0`).update(content).digest("hex");
        if (blob !== before) await recorder.found(path, content, file.stat.modified);
      });
    }
  }
  for (const path of known.keys()) if (versions.covers(path)) await recorder.gone(path);
}

async function* filesBelow(storage: Storage, directory: string): AsyncGenerator<string> {
  const directories: string[] = [];
  for await (const { name, type } of storage.list(directory)) {
    const path = directory + name;
    if (type === "directory") directories.push(`${path}/`);
    else yield path;
  }
  for (const each of directories) yield* filesBelow(storage, each);
}
