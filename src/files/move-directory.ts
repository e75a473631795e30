import { TimeSlice } from "../event-loop/sliced-work.ts";
import { HttpError } from "../http/http-error.ts";
import { locationOf } from "../http/request-target.ts";
import { toHttpError } from "../server/error-reply.ts";
import { emptyReply, type Reply } from "../server/reply.ts";
import { preconditionCheck } from "./commit.ts";
import { copyTo } from "./copy-file.ts";
import { removeAt } from "./delete-file.ts";
import { type Destination, destinationAt, requireGuardedAlike, vacantDestinationOf } from "./destination.ts";
import type { FileRequest } from "./file-request.ts";
import { makeDirectoryAt } from "./make-directory.ts";
import { moveTo } from "./move-file.ts";
import { type TreeEntry, type TreeLimits, visibleTree } from "./visible-entries.ts";

const limits: TreeLimits = { maxEntries: 10_000, maxBytes: Number.POSITIVE_INFINITY };

/** COPY of a directory, with all below it that the client may read; with `Depth: 0` without (RFC 4918 §9.8.3). */
export async function copyDirectory(request: FileRequest): Promise<Reply> {
  const depth = depthOf(request);
  const to = await begin(request);
  const tree = depth === "0" ? [] : await visibleTree(request, limits);
  return transfer(request, to, tree, (file, destination) => copyTo(file, destination, () => {}));
}

/** MOVE of a directory, file by file: each is always at one of its places. Refused where a part has to stay. */
export async function moveDirectory(request: FileRequest): Promise<Reply> {
  const { exchange, path } = request;
  if (depthOf(request) === "0") throw badDepth();
  const to = await begin(request);
  const tree = await visibleTree(request, limits, { leftOut: refusePart });
  for (const entry of tree) if (!exchange.access.permitsPath("delete", entry.path)) throw exchange.access.refusal();
  return transfer(
    request,
    to,
    tree,
    (file, destination) => moveTo(file, destination, () => {}),
    async () => {
      const directories = tree.filter(({ type }) => type === "directory").map((directory) => directory.path);
      for (const directory of [path, ...directories].reverse()) await removeAt({ ...request, path: directory });
    },
  );
}

function refusePart(): never {
  const details = "There are links in it, or files that you may not see, which are not moved with a directory.";
  throw new HttpError(409, "DIRECTORY_NOT_EMPTY", details);
}

/** Gives the place where the directory is to be, after everything was judged that can be judged without its content. */
function begin(request: FileRequest): Promise<string> {
  preconditionCheck(request.exchange)(request.stat);
  return vacantDestinationOf(request);
}

async function transfer(
  request: FileRequest,
  to: string,
  tree: readonly TreeEntry[],
  place: (file: FileRequest, destination: Destination) => Promise<unknown>,
  finish: () => Promise<void> = async () => {},
): Promise<Reply> {
  const { exchange, path } = request;
  const placeOf = (entry: TreeEntry): string => to + entry.path.slice(path.length);
  for (const entry of tree) {
    requireGuardedAlike(exchange, entry.path, placeOf(entry));
    if (!exchange.access.permitsPath("create", placeOf(entry))) throw exchange.access.refusal();
  }
  await makeDirectoryAt(request, to);
  const slice = new TimeSlice();
  let done = 0;
  try {
    for (const entry of tree) {
      if (slice.isOver) await slice.renew();
      const target = placeOf(entry);
      if (entry.type === "directory") await makeDirectoryAt(request, target);
      else await place({ ...request, path: entry.path, stat: entry.stat }, destinationAt(exchange, target));
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

function depthOf({ exchange }: FileRequest): "0" | "infinity" {
  const depth = (exchange.header("depth") ?? "infinity").toLowerCase();
  if (depth !== "0" && depth !== "infinity") throw badDepth();
  return depth;
}

function badDepth(): HttpError {
  return new HttpError(400, "INVALID_PATH", "`Depth` has to be `infinity`; for COPY it may be `0`.");
}
