import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { contentRange } from "../http/byte-range.ts";
import type { Reply, ReplyHeaders } from "../server/reply.ts";
import type { ByteSpan, OpenFile } from "../storage/storage.ts";

/** Several ranges as `multipart/byteranges` (RFC 9110 §14.6), of known length; without a `file` (HEAD) just that. */
export function multipartByteRanges(
  headers: ReplyHeaders,
  size: number,
  spans: readonly ByteSpan[],
  file: OpenFile | undefined,
): Reply {
  const boundary = randomBytes(18).toString("base64url"); // unguessable, so that no content can hold it on purpose
  const type = String(headers["content-type"]);
  const heads = spans.map((span) => partHead(boundary, type, contentRange(span, size)));
  const end = `\r\n--${boundary}--\r\n`;
  const ofParts = spans.reduce((sum, { start, end: last }) => sum + last - start + 1, 0);
  const length = Buffer.byteLength(heads.join("")) + ofParts + end.length;
  return {
    status: 206,
    headers: {
      ...headers,
      "content-type": `multipart/byteranges; boundary=${boundary}`,
      "content-length": String(length),
    },
    ...(file && { body: Readable.from(parts(file, spans, heads, end), { objectMode: false }) }),
  };
}

function partHead(boundary: string, type: string, range: string): string {
  return `\r\n--${boundary}\r\nContent-Type: ${type}\r\nContent-Range: ${range}\r\n\r\n`;
}

async function* parts(
  file: OpenFile,
  spans: readonly ByteSpan[],
  heads: readonly string[],
  end: string,
): AsyncGenerator<Uint8Array> {
  for (const [index, span] of spans.entries()) {
    yield Buffer.from(heads[index] ?? "");
    yield* file.stream(span);
  }
  yield Buffer.from(end);
}
