import { Buffer } from "node:buffer";
import { entityTag } from "../http/entity-tag.ts";
import { parseFileName } from "../http/file-name.ts";
import { HttpError } from "../http/http-error.ts";
import { hasPreconditions } from "../http/preconditions.ts";
import { locationOf } from "../http/request-target.ts";
import { documentKind } from "../http/selector-range.ts";
import { refuseEncodedContent, tooLarge } from "../server/admission.ts";
import { decidedContent } from "../server/before-write.ts";
import type { Exchange } from "../server/exchange.ts";
import { emptyReply, type Reply } from "../server/reply.ts";
import { type CommitCheck, type Content, StorageError } from "../storage/storage.ts";
import { makeChange, onePiece, preconditionCheck, storedReply, storeFile } from "./commit.ts";
import type { FileRequest } from "./file-request.ts";
import { listedPath, refuseHiddenPath } from "./listed-path.ts";

/** PUT of a file: created (201) or replaced as a whole (200). */
export async function writeFile(request: FileRequest): Promise<Reply> {
  const { exchange, options, path } = request;
  const judge = preconditionCheck(exchange);
  const check: CommitCheck = (current) => {
    // A user who may only create must not overwrite a file that another has created meanwhile.
    if (!exchange.access.permitsPath(current ? "overwrite" : "create", path)) throw exchange.access.refusal();
    judge(current);
  };
  check(request.stat);
  refuseEncodedContent(exchange.headers);
  const { createParents } = options;
  const { created, stat } = await storeFile(request, await withoutFragments(request), { check, createParents });
  return storedReply(exchange, created ? 201 : 200, path, stat);
}

/** Whether nothing of a PUT depends on what is there: the write itself finds that out, and checks the rights. */
export function replacesAnything(
  { method, headers, access }: FileRequest["exchange"],
  { beforeWrite }: FileRequest["options"],
  path: string,
): boolean {
  if (method !== "PUT" || path.endsWith("/") || hasPreconditions(headers) || beforeWrite) return false;
  return access.permitsPath("create", path) && access.permitsPath("overwrite", path);
}

/** POST to a file: the content is added to its end, all of it or nothing. */
export async function appendFile(request: FileRequest): Promise<Reply> {
  const { exchange, storage, options, path } = request;
  const judge = preconditionCheck(exchange);
  judge(request.stat);
  refuseEncodedContent(exchange.headers);
  let added = Number(exchange.headers["content-length"] ?? 0);
  const refuseTooLarge: CommitCheck = (current) => {
    if ((current?.size ?? 0) + added > options.maxFileSize) throw tooLarge(options.maxFileSize);
  };
  refuseTooLarge(request.stat);

  async function* counted(content: Content): AsyncGenerator<Uint8Array> {
    added = 0;
    for await (const chunk of content) {
      added += chunk.byteLength;
      refuseTooLarge(request.stat);
      yield chunk;
    }
  }
  const check: CommitCheck = (current) => {
    judge(current);
    refuseTooLarge(current);
  };
  const wanted = { kind: "appended", content: exchange.body, check } as const;
  const { stat } = await makeChange(request, wanted, (content, check) =>
    storage.append(path, counted(content), { check }),
  );
  // Nothing was added, so there is no change to announce.
  if (added > 0) exchange.changed({ kind: "appended", path, etag: entityTag(stat.version), size: stat.size });
  return storedReply(exchange, 200, path, stat);
}

/** POST to a directory: creates the file that `X-Filename` names (201), and never replaces one. */
export async function createFile(request: FileRequest): Promise<Reply> {
  const { exchange, storage, options } = request;
  const wanted = request.path + fileNameOf(exchange);
  refuseHiddenPath(exchange.method, wanted, options.dotfiles);
  const path = await listedPath(exchange, request, wanted);
  if (!exchange.access.permitsPath("create", path)) throw exchange.access.refusal();
  if (await storage.stat(path)) {
    throw new HttpError(409, "FILE_EXISTS", "A file of that name exists already; nothing was written.");
  }
  const check = preconditionCheck(exchange);
  check(undefined);
  refuseEncodedContent(exchange.headers);
  const asked = { ...request, path, stat: undefined };
  const { stat } = await storeFile(asked, exchange.body, { check, exclusive: true });
  return storedReply(exchange, 201, path, stat);
}

function fileNameOf(exchange: Exchange): string {
  // Node joins fields of one name with a comma, which would turn two names into one.
  if (exchange.count("x-filename") > 1) {
    throw new HttpError(400, "INVALID_FILENAME", "Send one X-Filename header, and one file per request.");
  }
  return parseFileName(exchange.header("x-filename"));
}

/** DELETE of a file, or of a directory, which must be empty. */
export async function deleteFile(request: FileRequest): Promise<Reply> {
  const { exchange, path, stat } = request;
  const check = preconditionCheck(exchange);
  check(stat);
  await removeAt(request, check);
  exchange.changed({ kind: "deleted", path });
  return emptyReply(204);
}

export async function removeAt(request: FileRequest, check: CommitCheck = () => {}): Promise<void> {
  const { storage, path } = request;
  const wanted = { kind: "deleted", content: onePiece(Buffer.alloc(0)), check } as const;
  await makeChange(request, wanted, (_content, check) => storage.remove(path, { check }));
}

/** MKCOL: makes a directory in one that exists (201). It is not a file, so there is no event. */
export async function makeDirectory(request: FileRequest): Promise<Reply> {
  const { exchange, path: asked, stat } = request;
  const path = asked.endsWith("/") ? asked : `${asked}/`;
  preconditionCheck(exchange)(stat);
  for await (const { byteLength } of exchange.body) {
    if (byteLength > 0) throw new HttpError(415, "UNSUPPORTED_TYPE", "MKCOL takes no content.");
  }
  await makeDirectoryAt(request, path);
  return emptyReply(201, { location: locationOf(exchange, path) });
}

export async function makeDirectoryAt({ exchange, storage, options }: FileRequest, path: string): Promise<void> {
  const { beforeWrite } = options;
  if (!storage.makeDirectory) throw new StorageError("forbidden");
  if (beforeWrite) await decidedContent(beforeWrite, { kind: "created", path, exchange, content: Buffer.alloc(0) });
  await storage.makeDirectory(path);
}

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
