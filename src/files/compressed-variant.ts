import Negotiator from "negotiator";
import type { ContentCoding } from "../http/entity-tag.ts";
import type { OpenFile, StoredStat } from "../storage/storage.ts";
import type { FileRequest } from "./file-request.ts";

/** What the name of a file with a content coding ends in; the best coding first. */
const extensions: Readonly<Record<ContentCoding, string>> = { br: ".br", zstd: ".zst", gzip: ".gz" };

const preferred = Object.keys(extensions);

/** The package has this option, its types do not. */
interface EncodingNegotiator {
  encodings(available: readonly string[], options: { readonly preferred: readonly string[] }): string[];
}

// A longer field is not worth the work of reading it.
const maxFieldLength = 1024;

/** A file that holds the content of another one, compressed. */
export interface CompressedVariant {
  readonly coding: ContentCoding;
  readonly file: OpenFile;
}

/**
 * The file beside a file that has its content in a coding which the client takes: `app.js.br` beside `app.js`. One that is
 * older than the file is out of date, and is not used. `undefined` where there is none.
 */
export async function compressedVariant(
  { exchange, path, storage }: FileRequest,
  { modified }: StoredStat,
): Promise<CompressedVariant | undefined> {
  for (const coding of wantedCodings(exchange.header("accept-encoding"))) {
    const file = await storage.open(path + extensions[coding]);
    if (!file) continue;
    exchange.defer(() => file.close());
    if (file.stat.modified >= modified) return { coding, file };
  }
  return undefined;
}

/** What a client takes, in the order of its preference and then of ours, up to the content as it is. */
function wantedCodings(accepted: string | undefined): readonly ContentCoding[] {
  if (accepted === undefined || accepted.length > maxFieldLength) return [];
  const negotiator: EncodingNegotiator = new Negotiator({ headers: { "accept-encoding": accepted } }) as never;
  const wanted = negotiator.encodings([...preferred, "identity"], { preferred });
  const end = wanted.indexOf("identity");
  return wanted.slice(0, end === -1 ? undefined : end) as ContentCoding[]; // of those that were offered
}
