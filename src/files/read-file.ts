import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { contentRange, parseByteRange } from "../http/byte-range.ts";
import { entityTag, variantTag } from "../http/entity-tag.ts";
import { attachment } from "../http/file-name.ts";
import { HttpError, notFound } from "../http/http-error.ts";
import {
  evaluatePreconditions,
  isPast,
  isRangeCurrent,
  preconditionFailed,
  type Validators,
} from "../http/preconditions.ts";
import { documentKind } from "../http/selector-range.ts";
import { emptyReply, type Reply, type ReplyHeaders } from "../server/reply.ts";
import type { FileOptions } from "../server/site.ts";
import type { ByteSpan, OpenFile, StoredStat } from "../storage/storage.ts";
import {
  type CodedVariant,
  codedVariant,
  compressedBytes,
  compressedStream,
  compressorVersion,
  dependsOnCoding,
  type MadeCoding,
} from "./content-coding.ts";
import { type FileRequest, maxPiece, sentFile } from "./file-request.ts";

// By type, not by extension: `.shtml` and `.xht` are pages, too.
const canRunScripts = /^text\/html\b|[/+]xml\b/i;

/** GET and HEAD of a file: all of it (200), the byte ranges asked for (206, RFC 9110 §14), or 304. */
export async function readFile(request: FileRequest): Promise<Reply> {
  const { exchange, stat, file: plain } = request;
  if (!stat || !plain) throw notFound();
  const ofPlain = headersOf(request, stat);
  const { precompressed, compress } = request.options;
  const variant = precompressed || compress ? await codedVariant(request, stat, ofPlain.ofContent) : undefined;
  const about = variant ? headersOfVariant(ofPlain, stat, variant) : ofPlain;
  const { validators } = about;
  const { method, headers: asked } = exchange;
  const verdict = evaluatePreconditions(method, asked, validators);
  if (verdict === "failed") throw preconditionFailed(validators);
  if (verdict === "not-modified") return emptyReply(304, { ...about.ofUnchanged });

  const headers = { ...about.ofContent };
  const isHead = method === "HEAD";
  if (variant && !variant.file) return compressedFile(headers, plain, variant.coding, isHead);
  const file = variant?.file ?? plain;
  const { size } = file.stat;
  const isRanged = asked.range !== undefined && isRangeCurrent(exchange.header("if-range"), validators);
  const spans = isRanged ? parseByteRange(asked.range ?? "", size) : "ignore";
  if (spans === "unsatisfiable") {
    const unsatisfied = { "content-range": `bytes */${size}` };
    throw new HttpError(416, "RANGE_NOT_SATISFIABLE", `The file has ${size} bytes.`, { headers: unsatisfied });
  }
  if (spans === "ignore") {
    return { status: 200, headers, ...(!isHead && { body: file.content ?? (await contentOf(file, size)) }) };
  }
  const [span, ...others] = spans;
  if (!span || others.length > 0) return multipartByteRanges(headers, size, spans, isHead ? undefined : file);
  const length = span.end - span.start + 1;
  headers["content-length"] = String(length);
  headers["content-range"] = contentRange(span, size);
  return { status: 206, headers, ...(!isHead && { body: await contentOf(file, length, span) }) };
}

async function contentOf(file: OpenFile, length: number, span?: ByteSpan): Promise<Readable | Uint8Array> {
  return length <= maxPiece ? file.bytes(span) : file.stream(span);
}

/** The content, compressed. The length of a small one is known beforehand, to HEAD as well. */
async function compressedFile(
  headers: ReplyHeaders,
  file: OpenFile,
  coding: MadeCoding,
  isHead: boolean,
): Promise<Reply> {
  if (file.stat.size > maxPiece)
    return { status: 200, headers, ...(!isHead && { body: compressedStream(file, coding) }) };
  const body = await compressedBytes(file, coding);
  headers["content-length"] = String(body.byteLength);
  return { status: 200, headers, ...(!isHead && { body }) };
}

interface FileHeaders {
  readonly path: string;
  readonly options: FileOptions;
  /** Whether its date is told. */
  readonly isDated: boolean;
  readonly validators: Validators;
  /** Header fields of a 304: what a cache needs to know, with or without content (RFC 9110 §15.4.5). */
  readonly ofUnchanged: Readonly<ReplyHeaders>;
  /** Header fields of a 200 with all of the content. */
  readonly ofContent: Readonly<ReplyHeaders>;
  /** What the host program adds to both, or sets in place of ours. */
  readonly own: Readonly<ReplyHeaders>;
}

/** By record: storages that keep files in memory give the same one until the file changes. */
const knownHeaders = new WeakMap<StoredStat, FileHeaders>();

function headersOf(request: FileRequest, stat: StoredStat): FileHeaders {
  const { path, options, serving } = request;
  const known = serving.asksEachTime ? undefined : knownHeaders.get(stat);
  const isDated = isPast(stat.modified);
  if (known?.path === path && known.options === options && known.isDated === isDated) return known;
  const etag = entityTag(stat.version);
  const cacheControl = serving.cacheControlOf(path, stat);
  const savedAs = serving.savedAs(path, stat);
  const vary = [
    // A cache must not answer a selector range with the whole document that it keeps.
    ...(documentKind(path) ? ["range"] : []),
    ...(dependsOnCoding(request) ? ["accept-encoding"] : []),
  ];
  const validating: ReplyHeaders = {
    etag,
    ...(isDated && { "last-modified": stat.modified.toUTCString() }),
    ...(cacheControl !== undefined && { "cache-control": cacheControl }),
    ...(vary.length > 0 && { vary: vary.join(", ") }),
  };
  const describing: ReplyHeaders = {
    ...contentHeaders(request, stat),
    ...(savedAs !== undefined && { "content-disposition": attachment(savedAs) }),
  };
  const given = Object.entries(options.headers?.(path, sentFile(stat)) ?? {});
  const own = Object.fromEntries(given.map(([name, value]) => [name.toLowerCase(), value]));
  const made: FileHeaders = {
    path,
    options,
    isDated,
    validators: { etag, modified: stat.modified },
    ofUnchanged: { ...validating, ...own },
    ofContent: { ...validating, ...describing, ...own, "content-length": String(stat.size) },
    own,
  };
  knownHeaders.set(stat, made);
  return made;
}

function headersOfVariant(plain: FileHeaders, { version }: StoredStat, { coding, file }: CodedVariant): FileHeaders {
  const etag = variantTag(version, coding, file?.stat.version ?? compressorVersion);
  const { ofUnchanged, own } = plain;
  const { "content-length": _, ...ofContent } = plain.ofContent;
  const length = file && { "content-length": String(file.stat.size) };
  const coded = { "content-encoding": coding, ...(file && { "accept-ranges": "bytes" }) };
  return {
    ...plain,
    validators: { ...plain.validators, etag },
    ofUnchanged: { ...ofUnchanged, etag, ...own },
    ofContent: { ...ofContent, etag, ...coded, ...own, ...length },
  };
}

function contentHeaders({ path, contentTypeOf, options }: FileRequest, { fields = {} }: StoredStat): ReplyHeaders {
  const type = contentTypeOf(path, fields["content-type"]);
  const { "cache-control": _, ...stored } = fields; // see Serving
  return {
    ...stored,
    "content-type": type,
    "accept-ranges": documentKind(path) ? "selector, bytes" : "bytes",
    ...(options.untrustedContent && canRunScripts.test(type) && { "content-security-policy": "sandbox" }),
  };
}

/** Several ranges as `multipart/byteranges` (RFC 9110 §14.6), of known length; without a `file` (HEAD) just that. */
export function multipartByteRanges(
  headers: ReplyHeaders,
  size: number,
  spans: readonly ByteSpan[],
  file: OpenFile | undefined,
): Reply {
  const boundary = randomBytes(18).toString("base64url"); // unguessable, so that no content can hold it on purpose
  const head = `\r\n--${boundary}\r\nContent-Type: ${headers["content-type"]}\r\nContent-Range: `;
  const heads = spans.map((span) => `${head}${contentRange(span, size)}\r\n\r\n`);
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
