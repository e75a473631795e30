import { ConfigError } from "../config.ts";
import { DocumentCache } from "../elements/document-cache.ts";
import type { ElementSpace } from "../elements/element-request.ts";
import { browserModule, listingModule, moduleReply } from "../files/browser-module.ts";
import {
  closeAtEnd,
  type FileRequest,
  openStandIn,
  purposeOf,
  servingOf,
  standInPaths,
} from "../files/file-request.ts";
import { listedPath, refuseHiddenPath } from "../files/listed-path.ts";
import { namesBudget } from "../files/names-budget.ts";
import { replacesAnything } from "../files/write-file.ts";
import { contentTypeTable } from "../http/content-type.ts";
import { HttpError, methodNotAllowed, notFound } from "../http/http-error.ts";
import { type FileMethod, isChange, takenMethods } from "../http/methods.ts";
import { isHiddenPath } from "../http/request-target.ts";
import { asksForElements, documentKind, parseRange } from "../http/selector-range.ts";
import { checkFileHandlerOptions } from "../options/check-config.ts";
import { BodyBudget } from "../server/body-budget.ts";
import type { Exchange } from "../server/exchange.ts";
import { messageOf } from "../server/logger.ts";
import type { Plugin } from "../server/plugin.ts";
import { type Reply, variesBy } from "../server/reply.ts";
import type { FileHandling, FileOptions, Site } from "../server/site.ts";
import { rootStorage } from "../storage/root-storage.ts";
import { type OpenFile, type Storage, StorageError, type StoredStat, type Unwatch } from "../storage/storage.ts";
import { storageAt } from "../storage/storage-at.ts";
import { directory } from "./directory.ts";
import { announceExternalEdits } from "./file-handler/external-edits.ts";
import {
  allowedMethods,
  elementOperations,
  elementOptionsReply,
  isElementMethod,
  isMethod,
  offeredTarget,
  operations,
  pathOptionsReply,
  requireRight,
  serverOptionsReply,
  type Target,
  targetOf,
} from "./file-handler/operations.ts";

/** Options of {@link fileHandler}; those left out are the host's. */
export interface FileHandlerOptions extends Omit<FileHandling, "maxFileSize"> {
  /** Directory on disk to serve, in place of the host's. */
  readonly root?: string | URL;
  /** Where the files live, in place of `root`. */
  readonly storage?: Storage;
  /**
   * The path at which they appear: with `at: "/archive"`, `a.txt` in the root is `/archive/a.txt`. Other paths are
   * passed on. @default "/"
   */
  readonly at?: string;
  /** Methods to take, of those that the host takes. @default the host's */
  readonly methods?: readonly FileMethod[];
  /** Take only GET, HEAD and OPTIONS; `false` does not undo the host's `true`. @default the host's */
  readonly readOnly?: boolean;
}

/** What all requests to one file handler share. */
interface HandlerSpace extends ElementSpace {
  readonly methods: readonly string[];
}

/**
 * Serves and changes files and the elements of documents; answers everything that reaches it. A host adds one by itself
 * at the end of its pipeline, so it is named only to give a part of a host a root or options of its own. Throws a
 * `ConfigError` for options that cannot work, and for a root that is not a directory.
 *
 * @example
 * createFileServer({ root: "site", plugins: [fileHandler({ root: "/srv/archive", at: "/archive" })] });
 */
export function fileHandler(options: FileHandlerOptions = {}): Plugin {
  checkFileHandlerOptions(options);
  const { root, at = "/", storage = root === undefined ? undefined : storageOf(root), ...others } = options;
  const { methods, readOnly, ...rest } = others;
  const own = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  const spaces = new Map<Site, HandlerSpace>();
  const unwatches: Unwatch[] = [];
  const plugin: Plugin = {
    name: "file-handler",
    takesChanges: takenMethods({ methods, readOnly }).some(isChange),
    confinedTo: at === "/" ? undefined : directory({ directory: at }).scope,
    async start(site) {
      const source = storage ?? site.storage;
      if (!source) throw new ConfigError([`host "${site.name}" has a file handler, but neither root nor storage`]);
      const taken = takenMethods(site.options, { methods, readOnly });
      const warn = (message: string): void => site.logger.warn({}, message);
      const isWritten = taken.some(isChange);
      await source.start?.((problem) => site.report(problem), isWritten ? warn : undefined, isWritten);
      await site.cover(source);
      const space = fileSpace(source, at, { ...site.options, ...own }, site.plugins);
      site.handled.add({ storage: space.storage, source, isWritten });
      site.documentCaches.add(space.documents);
      spaces.set(site, { ...space, methods: taken });
      if (!site.options.watch) return;
      const isListed = site.plugins.includes(plugin); // not so for the parts of a plugin that was made of this one
      const serves = (path: string): boolean => !isListed || site.fileHandlerOf(path) === plugin;
      unwatches.push(await announceExternalEdits(site, { storage: space.storage, ...space.options, serves }));
    },
    async documentAt(site, path, accept) {
      const space = spaces.get(site);
      return space && documentAt(space, path, accept);
    },
    handle(exchange) {
      const space = spaces.get(exchange.site);
      if (!space) throw new Error(`the file handler was not started for host "${exchange.site.name}"`);
      const past = exchange.inspection?.storage;
      if (!past) return answer(exchange, space);
      // What is read there is the same for ever, and of no use to other requests.
      return answer(exchange, { ...space, storage: past, methods: ["GET", "HEAD"], documents: new DocumentCache(1) });
    },
    async close() {
      await Promise.all(unwatches.map((unwatch) => unwatch()));
      await storage?.close?.();
    },
  };
  return plugin;
}

function storageOf(root: string | URL): Storage {
  try {
    return rootStorage(root);
  } catch (error) {
    throw new ConfigError([`fileHandler: ${messageOf(error)}`]);
  }
}

function fileSpace(source: Storage, at: string, options: FileOptions, plugins: readonly Plugin[]): ElementSpace {
  const own = at === "/" ? source : storageAt(at, source);
  const root = at === "/" ? at : `${at}/`;
  return {
    storage: plugins.reduce((storage, plugin) => plugin.wrapStorage?.(storage, root) ?? storage, own),
    root,
    options,
    serving: servingOf(options, root),
    contentTypeOf: contentTypeTable(options.contentTypes),
    documents: new DocumentCache(options.documentCacheSize),
    bodies: new BodyBudget(options.elementBodyMemory),
    openListing: namesBudget(maxListedNames),
  };
}

/** Names that all listings of a file handler and host may hold in memory at once. */
const maxListedNames = 500_000;
const noRange = { unit: "none" } as const;

async function answer(exchange: Exchange, space: HandlerSpace): Promise<Reply> {
  const { method, headers } = exchange;
  if (exchange.path === "*") return serverOptionsReply(method, space.methods, space.options);
  if (exchange.isUpgrade) throw new HttpError(404, "NOT_FOUND", "Nothing accepts web sockets here.");
  refuseHiddenPath(method, exchange.path, space.options.dotfiles);
  // Before the disk is touched, so that a refusal does not tell what exists.
  const isForElements = headers.range !== undefined && asksForElements(headers.range);
  const asked = (place: string) => (isForElements ? ({ path: place, elements: "any" } as const) : { path: place });
  if (isMethod(method)) requireRight(exchange.access, asked(exchange.path), method);
  const path = await listedPath(exchange, space, exchange.path);
  const { access } = exchange;
  if (isMethod(method) && path !== exchange.path) requireRight(access, asked(path), method);
  if (isSwitchedOff(exchange, space)) {
    const request = await findTarget(exchange, space, path); // `Allow` is about that, for all methods
    const table = operations[await offeredTarget(request)];
    throw methodNotAllowed(allowedMethods(access, { path: request.path }, table, space.methods));
  }

  const range = headers.range === undefined ? noRange : parseRange(headers.range, exchange.count("range"));
  if (range.unit === "selector" && method !== "PATCH") return answerForElements(exchange, space, path, range.selector);
  refuseLostRange(exchange);
  // A client that meant a part must never change the whole (RFC 9110 §14.5).
  if (isChange(method) && method !== "PATCH" && (range.unit !== "none" || headers["content-range"] !== undefined))
    throw new HttpError(400, "INVALID_RANGE", "Only `Range: selector=<css selector>` can change a part of a file.");

  const isUnseen = replacesAnything(exchange, space.options, path);
  const addressed = isUnseen ? foundTarget(exchange, space, path, undefined) : await findTarget(exchange, space, path);
  const found = method === "PATCH" ? await documentOf(addressed) : addressed;
  const module = found.stat || !space.options.listing ? undefined : listingModule(method, path);
  if (module) return moduleReply(exchange, await browserModule(module));
  if (method === "OPTIONS") {
    return pathOptionsReply(found, await documentOf(found), await offeredTarget(found), space.methods);
  }
  // A whole file is written where the client says.
  const instead = found.stat || (method !== "GET" && method !== "HEAD") ? undefined : await openStandIn(found);
  const request = instead ?? found;
  const target = targetOf(request);
  const operation = isMethod(method) ? operations[target][method] : undefined;
  if (!isMethod(method) || !operation) {
    const allow = allowedMethods(access, { path: request.path }, operations[target], space.methods);
    throw unsupported(request, target, allow);
  }
  requireRight(access, { path: request.path }, method, operation.right);
  let reply: Reply;
  try {
    reply = await operation.run(request);
  } catch (error) {
    const isDirectory = isUnseen && error instanceof StorageError && error.code === "is-directory";
    throw isDirectory ? directoryAt(access, `${path}/`, space) : error;
  }
  // A client that wants JSON gets 404 in its place.
  return instead && instead.path === space.serving.single ? variesBy(reply, "accept") : reply;
}

async function answerForElements(
  exchange: Exchange,
  space: HandlerSpace,
  wanted: string,
  selector: string,
): Promise<Reply> {
  const { method, access } = exchange;
  const { methods } = space;
  // Other methods, too, tell only clients that may read what exists.
  if (!isMethod(method)) requireRight(access, { path: wanted, elements: "any" }, "GET");
  const request = await documentOf(await findTarget(exchange, space, wanted));
  const { path, stat } = request;
  if (stat?.type !== "file") throw notFound();
  if (!documentKind(path)) throw notHtml();
  const asked = { path, elements: "any" } as const;
  if (method === "OPTIONS") return elementOptionsReply({ ...request, stat, selector, right: "read" }, methods);
  if (!isElementMethod(method)) throw methodNotAllowed(allowedMethods(access, asked, elementOperations, methods));
  const { run, right } = elementOperations[method];
  requireRight(access, asked, method, right);
  return run(Object.assign(request, { stat, selector, right })); // not a spread, see `foundTarget`
}

/** Whether a method that files can take is not to be taken here. */
function isSwitchedOff({ method, isProgram }: Exchange, { methods }: HandlerSpace): boolean {
  return !isProgram && !methods.includes(method) && (isMethod(method) || method === "OPTIONS");
}

/** What is at a path: a file, a directory, a document, or nothing. */
type FoundTarget = FileRequest & ElementSpace;

/** Looks the path up once. A file that is to be read is opened right away, and so measured on the open file. */
async function findTarget(exchange: Exchange, space: ElementSpace, path: string): Promise<FoundTarget> {
  const { method } = exchange;
  const purpose = purposeOf(exchange);
  // An edit of elements reads the page first, unless that is at hand.
  const isOpened = purpose === "version" && isMethod(method) && !space.documents.has(path);
  if ((method === "GET" || method === "HEAD" || isOpened) && !path.endsWith("/")) {
    const file = await space.storage.open(path, purpose);
    if (file) {
      closeAtEnd(exchange, file);
      exchange.file = path;
      return foundTarget(exchange, space, path, file.stat, file);
    }
  }
  const stat = await space.storage.stat(path);
  const isDirectory = stat?.type === "directory" && !path.endsWith("/");
  return foundTarget(exchange, space, isDirectory ? `${path}/` : path, stat);
}

/** Field by field, which takes a tenth of the time of a spread; every request comes by here. */
function foundTarget(
  exchange: Exchange,
  { storage, root, options, serving, contentTypeOf, openListing, documents, bodies }: ElementSpace,
  path: string,
  stat: StoredStat | undefined,
  file?: OpenFile,
): FoundTarget {
  return { storage, root, options, serving, contentTypeOf, openListing, documents, bodies, exchange, path, stat, file };
}

/** The document whose elements are meant, as a GET finds it: of a directory its index file, or what stands in. */
async function documentOf(found: FoundTarget): Promise<FoundTarget> {
  if (found.stat?.type === "file") return found;
  const instead = await openStandIn(found);
  const [index] = found.stat ? found.serving.indexes : [];
  return instead ?? (index === undefined ? found : { ...found, path: found.path + index, stat: undefined });
}

/** The path of that document, for those who do not ask for its content. */
async function documentAt(space: ElementSpace, path: string, accept?: string): Promise<string | undefined> {
  if (isHiddenPath(path, space.options.dotfiles)) return undefined;
  const stat = await space.storage.stat(path);
  if (stat?.type === "file") return documentKind(path) && path;
  const directory = path.endsWith("/") ? path : `${path}/`;
  for (const candidate of standInPaths(space, stat ? directory : path, stat?.type, accept)) {
    const found = await space.storage.stat(candidate);
    if (found?.type === "file") return documentKind(candidate) && candidate;
  }
  return undefined;
}

/** A client says what unit it uses; where the range itself did not arrive, something on the way has removed it. */
function refuseLostRange({ headers }: Exchange): void {
  const units = headers["x-range-unit"]?.toString().toLowerCase().split(",") ?? [];
  if (!units.some((unit) => unit.trim() === "selector")) return;
  const details = "`X-Range-Unit` is `selector`, but no `Range: selector=...` arrived; a proxy may have removed it.";
  throw new HttpError(400, "RANGE_LOST", details);
}

function unsupported({ exchange, path, stat }: FileRequest, target: Target, allow: string): HttpError {
  const { method } = exchange;
  if (method === "PUT" && path.endsWith("/")) return writtenDirectory(allow);
  if (method === "DELETE" && target === "root") {
    return new HttpError(403, "ROOT_DIRECTORY", "The root directory cannot be deleted.");
  }
  if (method === "PATCH" && target === "file") return notHtml();
  return !stat && isMethod(method) ? notFound() : methodNotAllowed(allow);
}

function directoryAt(access: Exchange["access"], path: string, { root, methods }: HandlerSpace): HttpError {
  const target = path === root ? "root" : "directory";
  return writtenDirectory(allowedMethods(access, { path }, operations[target], methods));
}

function writtenDirectory(allow: string): HttpError {
  const details = "A directory cannot be written as a file; POST creates a file in it.";
  return new HttpError(405, "IS_DIRECTORY", details, { headers: { allow } });
}

function notHtml(): HttpError {
  return new HttpError(416, "NOT_HTML", "Selectors work on HTML, XML and SVG documents only.");
}
