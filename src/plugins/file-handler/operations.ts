import { randomBytes } from "node:crypto";
import type { EditRequest, ElementOperation, ElementRequest, ElementSpace } from "../../elements/element-request.ts";
import { copyDirectory, copyFile, moveDirectory, moveFile } from "../../files/copy-move.ts";
import type { FileOperation, FileRequest } from "../../files/file-request.ts";
import { readDirectory } from "../../files/read-directory.ts";
import { readFile } from "../../files/read-file.ts";
import { appendFile, createFile, deleteFile, makeDirectory, writeFile } from "../../files/write-file.ts";
import { HttpError } from "../../http/http-error.ts";
import { type FileMethod, fileMethods, patchTypes } from "../../http/methods.ts";
import { asksForSelectors, documentKind } from "../../http/selector-range.ts";
import { type Access, type Right, rightsOf, type SelectedElements } from "../../server/access.ts";
import type { Exchange } from "../../server/exchange.ts";
import { emptyReply, type Reply } from "../../server/reply.ts";
import type { FileOptions } from "../../server/site.ts";

export type Method = Exclude<FileMethod, "OPTIONS">;
/** What a path can turn out to be. A *slot* can hold a file; a *gap* ends in a slash and can hold a directory. */
export type Target = "document" | "file" | "directory" | "root" | "slot" | "gap" | "nothing";

/** An operation, and the right that it takes; without one, any right that its method could need will do. */
interface Supported<Operation> {
  readonly run: Operation;
  readonly right?: Right;
}

/** An operation on what a path leads to. */
type PathOperation = (request: FileRequest & ElementSpace) => ReturnType<FileOperation>;

export type Operations<Operation> = Readonly<Partial<Record<Method, Supported<Operation>>>>;

const onFiles: Operations<FileOperation> = {
  GET: { run: readFile, right: "read" },
  HEAD: { run: readFile, right: "read" },
  PUT: { run: writeFile, right: "overwrite" },
  POST: { run: appendFile, right: "append" },
  DELETE: { run: deleteFile, right: "delete" },
  MOVE: { run: moveFile, right: "delete" },
  COPY: { run: copyFile, right: "read" },
};

/** Everything that can be done to a path. The keys of a row are its `Allow`; what is not among them is 405. */
export const operations: Readonly<Record<Target, Operations<PathOperation>>> = {
  document: { ...onFiles, PATCH: { run: (request) => editPage(request as EditRequest) } }, // a document has a `stat`
  file: onFiles,
  directory: {
    GET: { run: readDirectory },
    HEAD: { run: readDirectory },
    POST: { run: createFile },
    DELETE: { run: deleteFile, right: "delete" },
    MOVE: { run: moveDirectory, right: "delete" },
    COPY: { run: copyDirectory, right: "read" },
  },
  root: {
    GET: { run: readDirectory },
    HEAD: { run: readDirectory },
    POST: { run: createFile },
  },
  slot: { PUT: { run: writeFile, right: "create" }, MKCOL: { run: makeDirectory, right: "create" } },
  gap: { MKCOL: { run: makeDirectory, right: "create" } },
  nothing: {},
};

// The parser comes with these: who serves whole files only never loads it.
const readElements = loadedLater(async () => (await import("../../elements/read.ts")).readElements);
const replaceElements = loadedLater(async () => (await import("../../elements/edit-selected.ts")).replaceElements);
const appendToElements = loadedLater(async () => (await import("../../elements/edit-selected.ts")).appendToElements);
const deleteElements = loadedLater(async () => (await import("../../elements/edit-selected.ts")).deleteElements);
const editPage = loadedLater(async () => (await import("../../elements/edit-list.ts")).editPage);

/** Everything that can be done to the elements of a document. */
export const elementOperations: Readonly<
  Record<"GET" | "HEAD" | "PUT" | "POST" | "DELETE", Required<Supported<ElementOperation>>>
> = {
  GET: { run: readElements, right: "read" },
  HEAD: { run: readElements, right: "read" },
  PUT: { run: replaceElements, right: "overwrite" },
  POST: { run: appendToElements, right: "append" },
  DELETE: { run: deleteElements, right: "delete" },
};

/** An operation whose module is loaded at the first request for it. */
function loadedLater<Request>(
  load: () => Promise<(request: Request) => Promise<Reply>>,
): (request: Request) => Promise<Reply> {
  let operation: ((request: Request) => Promise<Reply>) | undefined;
  return async (request) => {
    operation ??= await load();
    return operation(request);
  };
}

export function isMethod(method: string): method is Method {
  return method !== "OPTIONS" && (fileMethods as readonly string[]).includes(method);
}

export function isElementMethod(method: string): method is keyof typeof elementOperations {
  return Object.hasOwn(elementOperations, method);
}

/** A path that can hold nothing offers nothing, and so does not show what is hidden there. */
export async function offeredTarget(request: FileRequest): Promise<Target> {
  const target = targetOf(request);
  return !request.stat && (await request.storage.refuses?.(request.path)) ? "nothing" : target;
}

export function targetOf({ path, stat, root }: FileRequest): Target {
  if (!stat) return path.endsWith("/") ? "gap" : "slot";
  if (stat.type === "file") return documentKind(path) ? "document" : "file";
  return path === root ? "root" : "directory";
}

/** What an access is asked about: a path, and the elements there that are meant, where not the whole file is. */
export interface Asked {
  readonly path: string;
  readonly elements?: SelectedElements | "any";
}

/** Throws unless the user has a right that the method could need, or the one right named. */
export function requireRight(access: Access, asked: Asked, method: Method, right?: Right): void {
  if (!hasRight(access, asked, method, right)) throw access.refusal();
}

/** The value of `Allow`: which of the methods taken are in a table, and this user may send. */
export function allowedMethods<Operation>(
  access: Access,
  asked: Asked,
  table: Operations<Operation>,
  taken: readonly string[],
): string {
  const isAllowed = (method: string): boolean =>
    method === "OPTIONS" ||
    (isMethod(method) && table[method] !== undefined && hasRight(access, asked, method, table[method].right));
  return taken.filter(isAllowed).join(", ");
}

function hasRight(access: Access, { path, elements: asked }: Asked, method: Method, right?: Right): boolean {
  const elements = asked ?? (method === "PATCH" ? "any" : undefined); // which ones, its edits say
  const permits = (each: Right): boolean =>
    elements ? access.permitsElements(each, path, elements) : access.permitsPath(each, path);
  if (method === "MOVE" && !permits("read")) return false; // it shows the content elsewhere
  return right ? permits(right) : rightsOf(method).some(permits);
}

/** Most selectors about which one reply says what may be done. */
const mostSelectors = 100;

/** What OPTIONS tells of the server: `OPTIONS *`. */
export function serverOptionsReply(method: string, methods: readonly string[], { dav }: FileOptions): Reply {
  if (method !== "OPTIONS") throw new HttpError(400, "INVALID_PATH", "`*` stands for the server, for OPTIONS only.");
  return optionsReply(methods.join(", "), true, dav);
}

/**
 * What OPTIONS tells of a path. With a file that a GET finds there under another path, which is `found` (an index, or
 * what stands in), it also takes requests for the elements of that.
 */
export function pathOptionsReply(
  request: FileRequest,
  found: FileRequest,
  target: Target,
  taken: readonly string[],
): Reply {
  const { exchange, path, options } = request;
  const { access } = exchange;
  const own = allowedMethods(access, { path }, operations[target], taken);
  const isInstead = request.stat === undefined && found.stat !== undefined;
  const sent = isInstead ? allowedMethods(access, { path: found.path }, reading, taken) : "";
  const isBySelector = options.dialect === "draft-00" && asksForSelectors(exchange.headers);
  const document = documentAt(found, isBySelector);
  const ofElements: readonly Operations<unknown>[] =
    document === undefined || document === path ? [] : [elementOperations, operations.document]; // of the latter PATCH
  const asElements = { path: document ?? path, elements: "any" } as const;
  const elements = ofElements.map((table) => allowedMethods(access, asElements, table, taken));
  const allowed = [own, sent, ...elements].join(", ").split(", ");
  const allow = taken.filter((method) => allowed.includes(method)).join(", ");
  const reply = optionsReply(allow, document !== undefined, options.dav);
  return document !== undefined && isBySelector ? optionsBySelector(exchange, document, taken, reply) : reply;
}

const { GET, HEAD } = operations.file;
const reading = { ...(GET && { GET }), ...(HEAD && { HEAD }) };

/** The document on which selectors work at a path; for users who may not read it `undefined`, to hide what exists. */
function documentAt({ exchange, path, stat }: FileRequest, isPartEnough: boolean): string | undefined {
  const { access } = exchange;
  if (stat?.type !== "file" || documentKind(path) === undefined) return undefined;
  const mayRead = access.permitsPath("read", path) || (isPartEnough && access.permitsElements("read", path, "any"));
  return mayRead ? path : undefined;
}

function optionsReply(allow: string, isDocument: boolean, dav: string | undefined): Reply {
  const ranges = isDocument ? "selector, bytes" : "bytes";
  const patch = isDocument && allow.includes("PATCH") && { "accept-patch": patchTypes.join(", ") };
  return emptyReply(200, { allow, "accept-ranges": ranges, vary: "Authorization", ...patch, ...(dav && { dav }) });
}

/** What this user may do to these elements. How many there are, only those who may read them learn. */
export async function elementOptionsReply(request: ElementRequest, methods: readonly string[]): Promise<Reply> {
  const { path, exchange } = request;
  const { access } = exchange;
  requireRight(access, { path, elements: "any" }, "GET", "read");
  const { examineElements } = await import("../../elements/read.ts");
  const { headers, impossible, elements } = await examineElements(request);
  const possible = Object.entries(elementOperations).filter(([method]) => !impossible.has(method));
  const allow = allowedMethods(access, { path, elements }, Object.fromEntries(possible), methods);
  return emptyReply(200, { ...headers, allow, "accept-ranges": "selector, bytes" });
}

/**
 * What this user may do to the elements of a document, by the selectors of the rules about it: `multipart/mixed` with
 * an empty part for each, which has `Content-Range` and `Allow`; for the document as a whole the selector is `*`.
 * Clients of `draft-00` find out by it which elements to make editable.
 */
function optionsBySelector({ access }: Exchange, path: string, methods: readonly string[], reply: Reply): Reply {
  const boundary = randomBytes(18).toString("base64url");
  const selectors = ["*", ...(access.selectorsOf?.(path) ?? [])].slice(0, mostSelectors);
  const parts = selectors.map((selector) => {
    const allow = allowedMethods(access, { path, elements: selectedBy(selector) }, elementOperations, methods);
    return `--${boundary}\r\nContent-Range: selector=${selector.replace(/\s+/g, " ")}\r\nAllow: ${allow}\r\n\r\n\r\n`;
  });
  const headers = {
    ...reply.headers,
    "content-type": `multipart/mixed; boundary=${boundary}`,
    "preference-applied": "return=representation",
    vary: "Accept, Prefer, Authorization",
  };
  return { status: 200, headers, body: Buffer.from(`${parts.join("")}--${boundary}--\r\n`) };
}

/** Elements known by this selector only: they may be part of any others. */
function selectedBy(selector: string): SelectedElements {
  return { areAmong: (other) => other === selector, touch: (other) => selector === "*" || other === selector };
}
