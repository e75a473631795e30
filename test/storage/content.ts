import { text } from "node:stream/consumers";
import type { Content, Storage, StoredEntry } from "../../src/storage/storage.ts";

/** Content that arrives in these pieces. */
export async function* content(...pieces: ReadonlyArray<string | Uint8Array>): Content {
  for (const piece of pieces) yield typeof piece === "string" ? Buffer.from(piece) : piece;
}

/** Content that breaks off with this error after its first piece. */
export async function* brokenContent(piece: string, error: Error): Content {
  yield Buffer.from(piece);
  throw error;
}

/** The text of a stored file; `undefined` where there is none. */
export async function textAt(storage: Storage, path: string): Promise<string | undefined> {
  const file = await storage.open(path);
  if (file === undefined) return undefined;
  const stream = file.stream();
  await file.close();
  return text(stream);
}

/** All entries of a directory, by name. */
export async function entriesAt(storage: Storage, path: string): Promise<StoredEntry[]> {
  const entries: StoredEntry[] = [];
  for await (const entry of storage.list(path)) entries.push(entry);
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The names in a directory, sorted. */
export async function namesAt(storage: Storage, path: string): Promise<string[]> {
  return (await entriesAt(storage, path)).map(({ name }) => name);
}

/** A promise, and the function that fulfils it. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}
