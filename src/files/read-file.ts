import { contentRange, parseByteRange, unsatisfiedRange } from "../http/byte-range.ts";
import { documentKind } from "../http/content-type.ts";
import { type ContentCoding, entityTag, variantTag } from "../http/entity-tag.ts";
import { attachment } from "../http/file-name.ts";
import { formatHttpDate } from "../http/http-date.ts";
import { HttpError, notFound } from "../http/http-error.ts";
import { evaluatePreconditions, isRangeCurrent, preconditionFailed, type Validators } from "../http/preconditions.ts";
import { emptyReply, type Reply, type ReplyHeaders } from "../server/reply.ts";
import type { FileOptions } from "../server/site.ts";
import type { ByteSpan, OpenFile, StoredStat } from "../storage/storage.ts";
import { type CompressedVariant, dependsOnCoding, madeVariant, storedVariant } from "./compressed-variant.ts";
import { compressedBytes, compressedStream, compressorVersion } from "./compressor.ts";
import type { FileRequest } from "./file-request.ts";
import { multipartByteRanges } from "./multipart-byte-ranges.ts";
import { sentFile } from "./serving.ts";

/** Up to this many bytes are read and sent in one piece, which is faster than a stream. */
const maxPiece = 128 * 1024;

// By type, not by extension: `.shtml` and `.xht` are pages, too.
const canRunScripts = /^text\/html\b|[/+]xml\b/i;

/** GET and HEAD of a file: all of it (200), the byte ranges asked for (206, RFC 9110 §14), or 304. */
export async function readFile(request: FileRequest): Promise<Reply> {
  const { exchange, stat: stored } = request;
  if (!stored || !request.file) throw notFound();
  const plain = headersOf(request, stored);
  const ready = request.options.precompressed ? await storedVariant(request, stored) : undefined;
  const variant = ready ?? madeVariant(request, stored, plain);
  const source = variant?.file ?? request.file;
  const { stat } = source;
  const file = exchange.method === "HEAD" ? undefined : source;

  const { validators, validating, describing, own } = variant
    ? headersOfVariant(plain, stored, variant, request)
    : plain;
  const verdict = evaluatePreconditions(exchange.method, exchange.headers, validators);
  if (verdict === "failed") throw preconditionFailed(validators);
  if (verdict === "not-modified") return emptyReply(304, { ...validating, ...own });

  const headers = { ...validating, ...describing, ...own };
  if (variant && !variant.file) return compressedFile(headers, source, variant.coding, exchange.method === "HEAD");
  const { range } = exchange.headers;
  if (range === undefined || !isRangeCurrent(exchange.header("if-range"), validators))
    return wholeFile(headers, stat, file);
  const spans = parseByteRange(range, stat.size);
  if (spans === "ignore") return wholeFile(headers, stat, file);
  if (spans === "unsatisfiable") throw unsatisfiable(stat.size);
  const [span, ...others] = spans;
  if (span && others.length === 0) return oneRange(headers, stat, span, file);
  return multipartByteRanges(headers, stat.size, spans, file);
}

/** What is said of one version of a file whatever is asked of it. */
interface FileHeaders {
  readonly path: string;
  readonly options: FileOptions;
  readonly validators: Validators;
  /** What a cache needs to know, with or without content (RFC 9110 §15.4.5). */
  readonly validating: Readonly<ReplyHeaders>;
  readonly describing: Readonly<ReplyHeaders>;
  /** What the host program adds, or says in place of ours. */
  readonly own: Readonly<ReplyHeaders>;
}

/** Of the storages that keep files in memory, and so give the same record until the file changes. */
const knownHeaders = new WeakMap<StoredStat, FileHeaders>();

function headersOf(request: FileRequest, stat: StoredStat): FileHeaders {
  const { path, options, serving } = request;
  const known = serving.asksEachTime ? undefined : knownHeaders.get(stat);
  if (known?.path === path && known.options === options) return known;
  const etag = entityTag(stat.version);
  const cacheControl = serving.cacheControlOf(path, stat);
  const savedAs = serving.savedAs(path, stat);
  const made: FileHeaders = {
    path,
    options,
    validators: { etag, modified: stat.modified },
    validating: {
      ...(options.etag && { etag }),
      ...(options.lastModified && { "last-modified": formatHttpDate(stat.modified) }),
      ...(cacheControl !== undefined && { "cache-control": cacheControl }),
      ...varying(request),
    },
    describing: {
      ...contentHeaders(request),
      ...(savedAs !== undefined && { "content-disposition": attachment(savedAs) }),
    },
    own: lowerCased(options.headers?.(path, sentFile(stat)) ?? {}),
  };
  knownHeaders.set(stat, made);
  return made;
}

/** What is said of the content in a coding, in place of what is said of the plain one. */
function headersOfVariant(
  plain: FileHeaders,
  { version }: StoredStat,
  { coding, file }: CompressedVariant,
  { options }: FileRequest,
): FileHeaders {
  const etag = variantTag(version, coding, file?.stat.version ?? compressorVersion);
  return {
    ...plain,
    validators: { ...plain.validators, etag },
    validating: { ...plain.validating, ...(options.etag && { etag }) },
    describing: { ...plain.describing, "content-encoding": coding, ...(file && { "accept-ranges": "bytes" }) },
  };
}

function lowerCased(headers: ReplyHeaders): ReplyHeaders {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function varying(request: FileRequest): ReplyHeaders {
  const fields = [
    // A cache must not answer a selector range with the whole document that it keeps.
    ...(documentKind(request.path) ? ["range"] : []),
    ...(dependsOnCoding(request) ? ["accept-encoding"] : []),
  ];
  return fields.length > 0 ? { vary: fields.join(", ") } : {};
}

function contentHeaders({ path, contentTypeOf, options }: FileRequest): ReplyHeaders {
  const type = contentTypeOf(path);
  return {
    "content-type": type,
    "accept-ranges": documentKind(path) ? "selector, bytes" : "bytes",
    ...(options.untrustedContent && canRunScripts.test(type) && { "content-security-policy": "sandbox" }),
  };
}

async function wholeFile(headers: ReplyHeaders, { size }: StoredStat, file: OpenFile | undefined): Promise<Reply> {
  headers["content-length"] = String(size);
  return { status: 200, headers, ...(file && { body: await content(file, size) }) };
}

/** Of a small file the length is known beforehand, to HEAD as well. */
async function compressedFile(
  headers: ReplyHeaders,
  file: OpenFile,
  coding: ContentCoding,
  isHead: boolean,
): Promise<Reply> {
  if (file.stat.size > maxPiece)
    return { status: 200, headers, ...(!isHead && { body: compressedStream(file, coding) }) };
  const body = await compressedBytes(file, coding);
  headers["content-length"] = String(body.byteLength);
  return { status: 200, headers, ...(!isHead && { body }) };
}

async function oneRange(
  headers: ReplyHeaders,
  { size }: StoredStat,
  span: ByteSpan,
  file: OpenFile | undefined,
): Promise<Reply> {
  const length = span.end - span.start + 1;
  headers["content-length"] = String(length);
  headers["content-range"] = contentRange(span, size);
  return { status: 206, headers, ...(file && { body: await content(file, length, span) }) };
}

async function content(file: OpenFile, length: number, span?: ByteSpan): Promise<NonNullable<Reply["body"]>> {
  return length <= maxPiece ? file.bytes(span) : file.stream(span);
}

function unsatisfiable(size: number): HttpError {
  return new HttpError(416, "RANGE_NOT_SATISFIABLE", `The file has ${size} bytes.`, {
    headers: { "content-range": unsatisfiedRange(size) },
  });
}
