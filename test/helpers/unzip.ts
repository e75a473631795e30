import { buffer } from "node:stream/consumers";
import { crc32 } from "node:zlib";
import { fromBufferPromise } from "yauzl";

/** What an archive says of an entry. */
export interface Unzipped {
  readonly name: string;
  readonly text: string;
  readonly modified: Date;
  readonly isCompressed: boolean;
}

/** Takes an archive apart with another library than the one that made it. Throws where anything in it is not whole. */
export async function unzip(archive: Buffer): Promise<Unzipped[]> {
  const zip = await fromBufferPromise(archive, { strictFileNames: true });
  const found: Unzipped[] = [];
  for await (const entry of zip.eachEntry()) {
    const name = entry.fileName;
    const content = name.endsWith("/") ? Buffer.alloc(0) : await buffer(await zip.openReadStreamPromise(entry));
    if (content.length !== entry.uncompressedSize || crc32(content) !== entry.crc32)
      throw new Error(`${name} is broken`);
    const isCompressed = entry.compressionMethod !== 0;
    found.push({ name, text: content.toString(), modified: entry.getLastModDate(), isCompressed });
  }
  return found;
}

/** The names in an archive, in their order. */
export async function namesIn(archive: Buffer): Promise<string[]> {
  return (await unzip(archive)).map(({ name }) => name);
}
