import { hash } from "node:crypto";
import { pipeline, type Readable, type Transform } from "node:stream";
import { promisify } from "node:util";
import zlib from "node:zlib";
import type { ContentCoding } from "../http/entity-tag.ts";
import type { OpenFile, StoredStat } from "../storage/storage.ts";

interface Compressor {
  whole(content: Uint8Array): Promise<Uint8Array>;
  stream(): Transform;
}

/** Bytes of each piece that comes out: large, for few trips to another thread. */
const chunkSize = 64 * 1024;

// Levels for content that a client waits for. Brotli's own default takes a hundred times as long as this one, and a
// window of 512 KiB in place of 4 MiB lets many streams run at once.
const gzipOptions = { level: 6, chunkSize };
const brotliOptions = {
  chunkSize,
  params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4, [zlib.constants.BROTLI_PARAM_LGWIN]: 19 },
};

const [gzip, brotli] = [promisify(zlib.gzip), promisify(zlib.brotliCompress)];

const compressors: Record<"br" | "gzip", Compressor> = {
  br: {
    whole: (content) => brotli(content, brotliOptions),
    stream: () => zlib.createBrotliCompress(brotliOptions),
  },
  gzip: {
    whole: (content) => gzip(content, gzipOptions),
    stream: () => zlib.createGzip(gzipOptions),
  },
};

/** A coding in which files can be compressed for the reply. */
export type MadeCoding = keyof typeof compressors;

export function canCompress(coding: ContentCoding): coding is MadeCoding {
  return coding in compressors;
}

const { versions } = process;
const makers = [versions.zlib, versions["brotli"], JSON.stringify([gzipOptions, brotliOptions])];

/** Names what compresses: another one makes other bytes of the same content, which need another strong tag. */
export const compressorVersion: string = hash("sha256", makers.join(" "), "base64url").slice(0, 8);

/** By record, which storages in memory keep until the file changes: then this goes with it. */
const kept = new WeakMap<StoredStat, Map<MadeCoding, Promise<Uint8Array>>>();

/** All of a small file, compressed; once for all who ask while its storage keeps it in memory. */
export function compressedBytes(file: OpenFile, coding: MadeCoding): Promise<Uint8Array> {
  const known = kept.get(file.stat) ?? new Map<MadeCoding, Promise<Uint8Array>>();
  kept.set(file.stat, known);
  const compressed = known.get(coding) ?? file.bytes().then(compressors[coding].whole);
  known.set(coding, compressed);
  compressed.catch(() => known.delete(coding));
  return compressed;
}

/** A larger file, compressed as fast as the client reads it. */
export function compressedStream(file: OpenFile, coding: MadeCoding): Readable {
  // What fails ends the other one, too: the reader of the compressed content learns of it there.
  return pipeline(file.stream(), compressors[coding].stream(), () => {});
}
