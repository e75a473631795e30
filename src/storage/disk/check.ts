import { Buffer } from "node:buffer";
import type { Disk } from "./disk.ts";
import { TemporaryFile } from "./temporary-file.ts";

/** Stores a byte under a name that nobody sees and removes it again; throws where that cannot be done. */
export async function check(disk: Disk): Promise<void> {
  const file = await TemporaryFile.create(disk.paths.root, "content");
  try {
    await file.receive([Buffer.of(0)]);
    if (disk.sync) await file.handle.sync();
  } finally {
    await file.remove();
  }
}
