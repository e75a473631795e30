import { Buffer } from "node:buffer";
import { itemsInSlices } from "../event-loop/sliced-work.ts";
import { entityTag } from "../http/entity-tag.ts";
import { HttpError, notFound } from "../http/http-error.ts";
import { isHiddenPath, locationOf } from "../http/request-target.ts";
import type { Right } from "../server/access.ts";
import { decidedContent } from "../server/before-write.ts";
import { toHttpError } from "../server/error-reply.ts";
import { emptyReply, type Reply } from "../server/reply.ts";
import { type CommitCheck, StorageError, type StoredStat, type WriteResult } from "../storage/storage.ts";
import { announce, preconditionCheck, storeFile } from "./commit.ts";
import { type Destination, destinationAt, destinationOf, requireGuardedAlike, vacantPathOf } from "./destination.ts";
import type { FileRequest } from "./file-request.ts";
import { filesBelow, type TreeEntry, type TreeLimits, unlessInSight, visibleTree } from "./visible-entries.ts";
import { makeDirectoryAt, removeAt } from "./write-file.ts";

const limits: TreeLimits = { maxEntries: 10_000, maxBytes: Number.POSITIVE_INFINITY };

/** How many files of a moved directory are looked at together. */
const batchSize = 32;

/** COPY of a file: what it holds now becomes the file at `Destination` (201 created, 204 replaced). */
export function copyFile(request: FileRequest): Promise<Reply> {
  return placeFile(request, async (destination, judge) => (await copyTo(request, destination, judge)).made);
}

/** MOVE of a file: one step where the storage can, else a copy and then a deletion of just what was copied. */
export function moveFile(request: FileRequest): Promise<Reply> {
  return placeFile(request, (destination, judge) => moveTo(request, destination, judge));
}

async function placeFile(
  request: FileRequest,
  place: (destination: Destination, judge: CommitCheck) => Promise<WriteResult>,
): Promise<Reply> {
  const { exchange, stat } = request;
  const judge = preconditionCheck(exchange);
  judge(stat);
  const destination = await destinationOf(request);
  const made = await place(destination, judge);
  const etag = entityTag(made.stat.version);
  if (!made.created) return emptyReply(204, { etag });
  return emptyReply(201, { location: locationOf(exchange, destination.path), etag });
}

/** COPY of a directory, with all below it that the client may read; with `Depth: 0` without (RFC 4918 §9.8.3). */
export async function copyDirectory(request: FileRequest): Promise<Reply> {
  const depth = depthOf(request);
  const to = await begin(request);
  const tree = depth === "0" ? [] : await visibleTree(request, limits);
  await requirePermitted(request, to, tree, []);
  return placeEach(request, to, tree, (file, destination) => copyTo(file, destination, () => {}));
}

/** MOVE of a directory: all of it in one step where the storage can, else file by file; or nothing. */
export async function moveDirectory(request: FileRequest): Promise<Reply> {
  const { exchange, storage, options, path } = request;
  if (depthOf(request) === "0") throw badDepth();
  const to = await begin(request);
  const tree = await visibleTree(request, limits, { leftOut: refusePart });
  await requirePermitted(request, to, tree, ["delete"]);
  const checks = { check: preconditionCheck(exchange), moved: () => announceMoved(request, to, tree) };
  const moved = options.beforeWrite ? undefined : await storage.move?.(path, to, checks);
  if (moved) return emptyReply(201, { location: locationOf(exchange, to) });
  const directories = tree.filter(({ type }) => type === "directory").map((directory) => directory.path);
  const removeEmpty = async (): Promise<void> => {
    for (const directory of [path, ...directories].reverse()) await removeAt({ ...request, path: directory });
  };
  return placeEach(request, to, tree, (file, destination) => moveTo(file, destination, () => {}), removeEmpty);
}

/** Gives the place where the directory is to be, after everything was judged that can be judged without its content. */
function begin(request: FileRequest): Promise<string> {
  preconditionCheck(request.exchange)(request.stat);
  return vacantPathOf(request);
}

function depthOf({ exchange }: FileRequest): "0" | "infinity" {
  const depth = (exchange.header("depth") ?? "infinity").toLowerCase();
  if (depth !== "0" && depth !== "infinity") throw badDepth();
  return depth;
}

function badDepth(): HttpError {
  return new HttpError(400, "INVALID_PATH", "`Depth` has to be `infinity`; for COPY it may be `0`.");
}

function refusePart(): never {
  const details = "There are links in it, or files that you may not see, which are not moved with a directory.";
  throw new HttpError(403, "FORBIDDEN_PATH", details);
}

/** Throws where the client may not create all of it at the destination, or lacks one of `rights` to what is there. */
async function requirePermitted(
  { exchange, path }: FileRequest,
  to: string,
  tree: readonly TreeEntry[],
  rights: readonly Right[],
): Promise<void> {
  const { access } = exchange;
  for await (const entry of itemsInSlices(tree)) {
    const target = to + entry.path.slice(path.length);
    requireGuardedAlike(exchange, entry.path, target);
    const isPermitted = rights.every((right) => access.permitsPath(right, entry.path));
    if (!isPermitted || !access.permitsPath("create", target)) throw access.refusal();
  }
}

/** Announces each file of a directory that was moved, as it is now, also of those that came into it until then. */
async function announceMoved(
  { exchange, storage, path, options }: FileRequest,
  to: string,
  tree: readonly TreeEntry[],
): Promise<void> {
  const names = new Set(tree.flatMap((each) => (each.type === "file" ? each.path.slice(path.length) : [])));
  try {
    for await (const each of filesBelow(storage, to)) {
      if (!isHiddenPath(each, options.dotfiles)) names.add(each.slice(to.length));
    }
  } catch (error) {
    unlessInSight(error); // it has been moved on
  }
  const left = [...names];
  while (left.length > 0) {
    const batch = left.splice(0, batchSize);
    const stats = await Promise.all(batch.map((name) => storage.stat(to + name)));
    for (const [i, name] of batch.entries()) {
      const stat = stats[i];
      exchange.follows = "";
      if (stat?.type === "file") announce(exchange, to + name, { created: true, stat });
      exchange.follows = stat && entityTag(stat.version);
      exchange.changed({ kind: "deleted", path: path + name });
    }
    await exchange.congestion;
  }
}

async function placeEach(
  request: FileRequest,
  to: string,
  tree: readonly TreeEntry[],
  place: (file: FileRequest, destination: Destination) => Promise<unknown>,
  finish: () => Promise<void> = async () => {},
): Promise<Reply> {
  const { exchange, path } = request;
  await makeDirectoryAt(request, to);
  let done = 0;
  try {
    for await (const entry of itemsInSlices(tree)) {
      const target = to + entry.path.slice(path.length);
      if (entry.type === "directory") await makeDirectoryAt(request, target);
      else await place({ ...request, path: entry.path }, destinationAt(exchange, target));
      done += 1;
    }
    await finish();
  } catch (error) {
    const { status, code, message, headers } = toHttpError(error, exchange.id);
    const details = `${message} Of ${tree.length} files and folders, ${done} are at the destination.`;
    throw new HttpError(status, code, details, { cause: error, headers });
  }
  return emptyReply(201, { location: locationOf(exchange, to) });
}

/** Copies one version of the file, which `judge` is shown, and announces what that has made. */
async function copyTo(
  request: FileRequest,
  { path, stat, check }: Destination,
  judge: CommitCheck,
): Promise<{ made: WriteResult; copied: StoredStat }> {
  const file = await request.storage.open(request.path);
  if (!file) throw notFound();
  try {
    // Its content is coded, and a storage takes plain content only.
    if (file.stat.fields?.["content-encoding"]) throw new StorageError("encoded");
    judge(file.stat);
    const made = await storeFile({ ...request, path, stat }, file.stream(), { check });
    return { made, copied: file.stat };
  } finally {
    await file.close();
  }
}

/** Moves the version of the file that `judge` is shown, and announces both changes. */
async function moveTo(request: FileRequest, destination: Destination, judge: CommitCheck): Promise<WriteResult> {
  const { exchange, storage, path, options } = request;
  let source: string | undefined;
  const check: CommitCheck = (current) => {
    judge(current);
    source = exchange.follows;
  };
  const { check: checkTarget } = destination;
  // The host program decides about content, so that is copied.
  const moved = options.beforeWrite ? undefined : await storage.move?.(path, destination.path, { check, checkTarget });
  if (moved) {
    announce(exchange, destination.path, moved);
    exchange.follows = source; // which the deletion is on top of
  }
  const made = moved ?? (await copyAndDelete(request, destination, judge));
  exchange.changed({ kind: "deleted", path });
  return made;
}

async function copyAndDelete(request: FileRequest, destination: Destination, judge: CommitCheck): Promise<WriteResult> {
  const { exchange, storage, path, options } = request;
  const { beforeWrite } = options;
  // Before the copy: what it refuses leaves everything as it was.
  if (beforeWrite) await decidedContent(beforeWrite, { kind: "deleted", path, exchange, content: Buffer.alloc(0) });
  const { made, copied } = await copyTo(request, destination, judge);
  const check: CommitCheck = (current) => {
    exchange.follows = current ? entityTag(current.version) : "";
    if (current?.version === copied.version) return;
    throw new HttpError(409, "WRITE_CONFLICT", "The file was changed while it was copied; both are there. Look again.");
  };
  await storage.remove(path, { check });
  return made;
}
