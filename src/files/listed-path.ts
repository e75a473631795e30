import { HttpError, notFound } from "../http/http-error.ts";
import { isHiddenPath, withoutSlash } from "../http/request-target.ts";
import type { Access } from "../server/access.ts";
import type { Exchange } from "../server/exchange.ts";
import type { FileSpace } from "./file-request.ts";

/** The path by which the storage lists a file, where a disk takes other spellings. Rights have to hold for both. */
export async function listedPath(
  exchange: Exchange,
  { storage, options }: Pick<FileSpace, "storage" | "options">,
  path: string,
): Promise<string> {
  const listed = await (storage.listedPath?.(path) ?? path);
  if (listed === path) return path;
  refuseHiddenPath(exchange.method, path, options.dotfiles);
  if (listed === undefined || !exchange.site.isGuardedAlike(path, listed)) throw hidden(exchange.method);
  refuseHiddenPath(exchange.method, listed, options.dotfiles);
  exchange.access = judgedByBoth(exchange.access, withoutSlash(path), withoutSlash(listed));
  return listed;
}

export function refuseHiddenPath(method: string, path: string, dotfiles: "ignore" | "allow"): void {
  if (isHiddenPath(path, dotfiles)) throw hidden(method);
}

function hidden(method: string): HttpError {
  if (method === "GET" || method === "HEAD" || method === "OPTIONS") return notFound();
  return new HttpError(403, "FORBIDDEN_PATH", "This name is reserved; choose another.");
}

/** Permits about a listed path, and what is below it, what is permitted about the path that was asked for as well. */
function judgedByBoth(access: Access, asked: string, listed: string): Access {
  const other = (path: string): string =>
    path === listed || path.startsWith(`${listed}/`) ? asked + path.slice(listed.length) : path;
  return {
    permitsPath: (right, path) => access.permitsPath(right, path) && access.permitsPath(right, other(path)),
    permitsElements: (right, path, elements) =>
      access.permitsElements(right, path, elements) && access.permitsElements(right, other(path), elements),
    selectorsOf: (path) => [path, other(path)].flatMap((each) => access.selectorsOf?.(each) ?? []),
    current: () => judgedByBoth(access.current?.() ?? access, asked, listed),
    refusal: () => access.refusal(),
  };
}
