import type { Access, SelectedElements } from "../../server/access.ts";
import type { Change } from "../../server/change-feed.ts";

/** Whether somebody is to hear of a change; `"unknown"` where that depends on elements that nobody remembers. */
export type Hears = "yes" | "no" | "unknown";

/** What one client may and wants to hear of. */
export interface Audience {
  /** Name of the client's host. */
  readonly site: string;
  /** A file, or a directory with all below it, without a slash at the end; `undefined` for everything. */
  readonly path: string | undefined;
  /** What the client could do when it connected. */
  readonly access: Access;
  /** Whether that was decided by all who decide for this path. */
  isProven(path: string): boolean;
}

/**
 * Decides whether a client hears of a change: one of its own host, in the part it asked for, of a file or of elements that
 * it could read. `site` is where the change was made.
 */
export function hears(audience: Audience, change: Change, site: string, elements?: SelectedElements): Hears {
  const { path } = change;
  if (site !== audience.site || !isWithin(path, audience.path) || !audience.isProven(path)) return "no";
  const { access } = audience;
  if (access.permits("read", path)) return "yes";
  if (change.selector === undefined) return "no"; // of a whole file
  if (elements) return access.permits("read", path, elements) ? "yes" : "no";
  return access.permits("read", path, "any") ? "unknown" : "no";
}

function isWithin(path: string, part: string | undefined): boolean {
  if (part === undefined) return true;
  return path.startsWith(part) && (path.length === part.length || path[part.length] === "/");
}
