import { hash } from "node:crypto";
import { pipeline, type Readable, type Transform } from "node:stream";
import { buffer } from "node:stream/consumers";
import zlib from "node:zlib";
import Negotiator from "negotiator";
import type { ContentCoding } from "../http/entity-tag.ts";
import type { ReplyHeaders } from "../server/reply.ts";
import type { OpenFile, StoredStat } from "../storage/storage.ts";
import { closeAtEnd, type FileRequest, maxPiece, purposeOf } from "./file-request.ts";

/** What the name of a file with a content coding ends in; the best coding first. */
const extensions: Readonly<Record<ContentCoding, string>> = { br: ".br", zstd: ".zst", gzip: ".gz" };

const preferred = Object.keys(extensions);

// A longer field is not worth the work of reading it.
const maxFieldLength = 1024;

/** Less is not worth compressing, in bytes. */
const smallest = 1024;

// Fonts of the first two kinds, icons and bitmaps are not compressed before.
const compressible =
  /^(?:text\/|application\/(?:json|javascript|xml|wasm|x-ndjson)|font\/[ot]tf|image\/(?:bmp|x-icon|vnd\.microsoft\.icon))|^[^;]*\+(?:json|xml)\b/i;

/** The content of a file in a coding: a file that holds it, or without one compressed for the reply. */
export type CodedVariant =
  | { readonly coding: ContentCoding; readonly file: OpenFile }
  | { readonly coding: MadeCoding; readonly file?: undefined };

export function dependsOnCoding({ options, path, contentTypeOf }: FileRequest): boolean {
  return options.precompressed || (options.compress && compressible.test(contentTypeOf(path)));
}

/**
 * The content in a coding that the client prefers: the file beside it that holds it (`app.js.br`), unless that
 * is older; else one to compress it with, but not for ranges, which count stored bytes, or what is coded already.
 */
export async function codedVariant(
  { exchange, options, path, storage, contentTypeOf }: FileRequest,
  { size, modified }: StoredStat,
  headers: Readonly<ReplyHeaders>,
): Promise<CodedVariant | undefined> {
  const wanted = wantedCodings(exchange.header("accept-encoding"));
  for (const coding of options.precompressed ? wanted : []) {
    const file = await storage.open(path + extensions[coding], purposeOf(exchange));
    if (!file) continue;
    closeAtEnd(exchange, file);
    if (file.stat.modified >= modified) return { coding, file };
  }
  if (!options.compress || size < smallest || exchange.headers.range !== undefined) return undefined;
  if (!compressible.test(contentTypeOf(path)) || headers["content-encoding"] !== undefined) return undefined;
  if (/\bno-transform\b/i.test(String(headers["cache-control"]))) return undefined;
  if (size > maxPiece && streams >= maxStreams) return undefined;
  const coding = wanted.find((each): each is MadeCoding => each in compressors);
  return coding && { coding };
}

/** What a client takes, in the order of its preference and then of ours, up to the content as it is. */
function wantedCodings(accepted: string | undefined): readonly ContentCoding[] {
  if (accepted === undefined || accepted.length > maxFieldLength) return [];
  // The package has this option, its types do not.
  const negotiator: { encodings(available: readonly string[], options: object): string[] } = new Negotiator({
    headers: { "accept-encoding": accepted },
  });
  const wanted = negotiator.encodings([...preferred, "identity"], { preferred });
  const end = wanted.indexOf("identity");
  return wanted.slice(0, end === -1 ? undefined : end) as ContentCoding[]; // of those that were offered
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

const compressors: Record<"br" | "gzip", () => Transform> = {
  br: () => zlib.createBrotliCompress(brotliOptions),
  gzip: () => zlib.createGzip(gzipOptions),
};

/** A coding in which files can be compressed for the reply. */
export type MadeCoding = keyof typeof compressors;

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
  const compressed = known.get(coding) ?? file.bytes().then((content) => buffer(compressors[coding]().end(content)));
  known.set(coding, compressed);
  compressed.catch(() => known.delete(coding));
  return compressed;
}

/** Each takes up to 3 MiB until its client has read it. More files at once are sent as they are. */
const maxStreams = 100;
let streams = 0;

/** A larger file, compressed as fast as the client reads it. */
export function compressedStream(file: OpenFile, coding: MadeCoding): Readable {
  // What fails ends the other one, too: the reader of the compressed content learns of it there.
  const compressed = pipeline(file.stream(), compressors[coding](), () => {
    streams -= 1;
  });
  streams += 1;
  return compressed;
}
