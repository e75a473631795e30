import Negotiator from "negotiator";
import type { ContentCoding } from "../http/entity-tag.ts";
import type { ReplyHeaders } from "../server/reply.ts";
import type { OpenFile, StoredStat } from "../storage/storage.ts";
import { canCompress, type MadeCoding } from "./compressor.ts";
import { closeAtEnd, type FileRequest, purposeOf } from "./file-request.ts";

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
export type CompressedVariant =
  | { readonly coding: ContentCoding; readonly file: OpenFile }
  | { readonly coding: MadeCoding; readonly file?: undefined };

export function dependsOnCoding({ options, path, contentTypeOf }: FileRequest): boolean {
  return options.precompressed || (options.compress && compressible.test(contentTypeOf(path)));
}

/** The coding to compress a file with. None for ranges, which count stored bytes, and for what is coded already. */
export function madeVariant(
  { exchange, path, options, contentTypeOf }: FileRequest,
  { size }: StoredStat,
  headers: Readonly<ReplyHeaders>,
): CompressedVariant | undefined {
  if (!options.compress || size < smallest || exchange.headers.range !== undefined) return undefined;
  if (!compressible.test(contentTypeOf(path)) || headers["content-encoding"] !== undefined) return undefined;
  if (/\bno-transform\b/i.test(String(headers["cache-control"]))) return undefined;
  const coding = wantedCodings(exchange.header("accept-encoding")).find(canCompress);
  return coding && { coding };
}

/** The file beside a file that has its content in a coding (`app.js.br`), unless it is older. */
export async function storedVariant(
  { exchange, path, storage }: FileRequest,
  { modified }: StoredStat,
): Promise<CompressedVariant | undefined> {
  for (const coding of wantedCodings(exchange.header("accept-encoding"))) {
    const file = await storage.open(path + extensions[coding], purposeOf(exchange));
    if (!file) continue;
    closeAtEnd(exchange, file);
    if (file.stat.modified >= modified) return { coding, file };
  }
  return undefined;
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
