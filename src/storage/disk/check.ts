import { Buffer } from "node:buffer";
import type { Disk } from "./disk.ts";
import { syncFile } from "./file-record.ts";
import { OpenDirectory } from "./open-directory.ts";
import { TemporaryFile } from "./temporary-file.ts";

/** Stores a byte under a name that nobody sees and removes it again; throws where that cannot be done. */
export async function check(disk: Disk): Promise<void> {
  await disk.paths.requireRoot();
  const root = await OpenDirectory.open(disk.paths.root);
  try {
    const file = await TemporaryFile.create(root);
    try {
      await file.receive([Buffer.of(0)]);
      if (disk.sync) await syncFile(file.handle);
    } finally {
      await file.remove();
    }
  } finally {
    await root.close();
  }
}
