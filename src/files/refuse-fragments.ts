import { Buffer } from "node:buffer";
import { HttpError } from "../http/http-error.ts";
import { documentKind } from "../http/selector-range.ts";
import type { Content } from "../storage/storage.ts";
import type { FileRequest } from "./file-request.ts";

/** Bytes to look at. A page that begins with a longer comment is rare, and can be sent without it. */
const prefixLength = 64 * 1024;

const pageMarkup = /<(?:!doctype|html|head|body)[\s/>]/i;

/** The content of a PUT, which fails (409) if it is a fragment and a page is stored: its `Range` was probably lost. */
export async function withoutFragments(request: FileRequest): Promise<Content> {
  const { exchange, options, path } = request;
  if (!options.refuseFragments || !documentKind(path) || !(await isStoredPage(request))) return exchange.body;
  return refuseFragment(exchange.body);
}

async function isStoredPage({ storage, path }: FileRequest): Promise<boolean> {
  const file = await storage.open(path);
  if (!file) return false;
  try {
    if (file.stat.size === 0) return false;
    const bytes = await file.bytes({ start: 0, end: Math.min(prefixLength, file.stat.size) - 1 });
    return isPage(bytes);
  } finally {
    await file.close();
  }
}

async function* refuseFragment(content: Content): AsyncGenerator<Uint8Array> {
  let held: Uint8Array[] | undefined = [];
  let size = 0;
  for await (const piece of content) {
    if (!held) {
      yield piece;
      continue;
    }
    held.push(piece);
    size += piece.byteLength;
    if (size < prefixLength) continue;
    yield* checked(held);
    held = undefined;
  }
  if (held) yield* checked(held);
}

function checked(pieces: readonly Uint8Array[]): readonly Uint8Array[] {
  if (isPage(Buffer.concat(pieces).subarray(0, prefixLength))) return pieces;
  const details =
    "A whole page is stored here, and this is only a part of one; to change elements, send `Range: selector=...`.";
  throw new HttpError(409, "FRAGMENT_REFUSED", details);
}

// Markup is ASCII in every supported encoding.
function isPage(bytes: Uint8Array): boolean {
  return pageMarkup.test(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1"));
}
