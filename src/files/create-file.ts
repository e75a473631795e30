import { entityTag } from "../http/entity-tag.ts";
import { parseFileName } from "../http/file-name.ts";
import { HttpError } from "../http/http-error.ts";
import { locationOf } from "../http/request-target.ts";
import { refuseEncodedContent } from "../server/admission.ts";
import type { Exchange } from "../server/exchange.ts";
import type { Reply } from "../server/reply.ts";
import { makeChange, preconditionCheck, storedReply, type WantedChange } from "./commit.ts";
import type { FileRequest } from "./file-request.ts";
import { listedPath, refuseHiddenPath } from "./listed-path.ts";

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
  const change: WantedChange = { kind: () => "created", content: exchange.body, check };
  const { stat } = await makeChange({ ...request, path, stat: undefined }, change, (content, check) =>
    storage.write(path, content, { check, exclusive: true, createParents: false }),
  );
  exchange.changed({ kind: "created", path, etag: entityTag(stat.version), size: stat.size });
  return storedReply(201, path, stat, { location: locationOf(exchange, path) });
}

function fileNameOf(exchange: Exchange): string {
  // Node joins fields of one name with a comma, which would turn two names into one.
  if (exchange.count("x-filename") > 1) {
    throw new HttpError(400, "INVALID_FILENAME", "Send one X-Filename header, and one file per request.");
  }
  return parseFileName(exchange.header("x-filename"));
}
