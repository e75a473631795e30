// Run as a process of its own: node watch-and-leave.js <root> <ended?>. Sees one change, and then has nothing to do.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { diskStorage } from "../../src/storage/disk/disk-storage.ts";

const [, , root = "", how = ""] = process.argv;
const seen = new Promise<string>((resolve, reject) => {
  const watcher = { changed: resolve, ignores: (): boolean => false, failed: reject };
  void diskStorage(root)
    .watch?.(watcher)
    .then(async (unwatch) => {
      await writeFile(join(root, "a.txt"), "a");
      const path = await seen;
      process.stdout.write(`${path}\n`);
      clearInterval(busy);
      if (how === "ended") await unwatch();
    });
});
const busy = setInterval(() => {}, 1000); // since the watching does not keep the process from its end
