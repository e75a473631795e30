import type { BigIntStats } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import type { Readable } from "node:stream";
import type { ByteSpan, OpenFile, StoredStat } from "../storage.ts";
import { openIfThere, storedStat } from "./file-record.ts";
import { FileStream, type StreamSource } from "./file-stream.ts";
import { liesAt } from "./open-directory.ts";
import { isSettled, lockedStat, visibleStat } from "./visible-stat.ts";

/** Opens the regular file at a real location; `undefined` where there is none. */
export async function openFile(real: string): Promise<OpenFile | undefined> {
  const handle = await openIfThere(real);
  return (
    handle &&
    readable(handle, async (stats) => {
      // What was found once to be whole and in its place is that still, as long as it is the same version.
      if (isSettled(real, storedStat(stats))) return storedStat(stats);
      // A directory above it may have become a link since its path was found to lie inside the root.
      if (!liesAt(handle, real)) return undefined;
      return visibleStat(real, stats, () => handle.stat({ bigint: true }));
    })
  );
}

/** Opens a regular file of whose name the lock is held, by way of its open directory. */
export async function openFileAt(location: string): Promise<OpenFile | undefined> {
  const handle = await openIfThere(location);
  return handle && readable(handle, async (stats) => lockedStat(stats));
}

async function readable(
  handle: FileHandle,
  statOf: (stats: BigIntStats) => Promise<StoredStat | undefined>,
): Promise<OpenFile | undefined> {
  try {
    const stats = await handle.stat({ bigint: true });
    const stat = stats.isFile() ? await statOf(stats) : undefined; // not a directory, a FIFO, a device
    if (stat) return new OpenDiskFile(handle, stat);
  } catch (error) {
    await handle.close();
    throw error;
  }
  await handle.close();
  return undefined;
}

class OpenDiskFile implements OpenFile {
  readonly stat: StoredStat;
  readonly #handle: FileHandle;
  #isClosed = false;
  /** The one who opened it and every reading under way; the last to leave closes the file. */
  #users = 1;

  constructor(handle: FileHandle, stat: StoredStat) {
    this.#handle = handle;
    this.stat = stat;
  }

  async bytes(span: ByteSpan = this.#whole()): Promise<Uint8Array> {
    this.#enter();
    try {
      // Not from Buffer's pool, which a small piece kept in a cache would keep from being freed.
      const bytes = Buffer.allocUnsafeSlow(span.end + 1 - span.start);
      let filled = 0;
      while (filled < bytes.length) filled += await this.#read(bytes.subarray(filled), span.start + filled);
      return bytes;
    } finally {
      await this.#leave();
    }
  }

  stream(span: ByteSpan = this.#whole()): Readable {
    this.#enter();
    const read: StreamSource["read"] = (into, position) => this.#read(into, position);
    return new FileStream({ read, done: () => this.#leave() }, span);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#leave();
  }

  #whole(): ByteSpan {
    return { start: 0, end: this.stat.size - 1 };
  }

  async #read(into: Uint8Array, position: number): Promise<number> {
    const { bytesRead } = await this.#handle.read(into, 0, into.length, position);
    // Never padded: a client that was promised more bytes must learn that they will not come.
    if (bytesRead === 0) throw new Error("the file became shorter while it was read");
    return bytesRead;
  }

  #enter(): void {
    if (this.#users === 0) throw new Error("the file was closed before it was read");
    this.#users += 1;
  }

  async #leave(): Promise<void> {
    this.#users -= 1;
    if (this.#users === 0) await this.#handle.close();
  }
}
