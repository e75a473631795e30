import type { SlicedWork } from "../../event-loop/sliced-work.ts";
import type { Access } from "../../server/access.ts";
import type { Change, ChangeOrigin } from "../../server/change-feed.ts";
import type { Exchange } from "../../server/exchange.ts";

/** Whether a client may receive a change; `"without-content"` where it is no longer known which elements changed. */
export type Verdict = "yes" | "no" | "without-content";

/** What one client may receive, and what it asked for. */
export interface Audience {
  readonly site: string;
  /** A file, or a directory with all below it, without a slash at the end; `undefined` for everything. */
  readonly path: string | undefined;
  /** What the client had to be allowed to read to connect. */
  readonly connectedTo: string;
  /** The client's request, for the host program, which knows by it whose connections to end. */
  readonly exchange: Exchange;
  /** The access of that request; {@link Access.current} tells what it may do by now. */
  readonly access: Access;
  /** Whether all plugins that decide about this path have decided about the client. */
  isProven(path: string): boolean;
}

/**
 * Decides by the rights of this moment whether a client may receive a change: one on its own host, in the part that it
 * asked for, of a file that it may read, or of elements that it may read both as they were and as they are.
 */
export function* mayReceive(audience: Audience, change: Change, { site, elements }: ChangeOrigin): SlicedWork<Verdict> {
  const { path } = change;
  if (site !== audience.site || !isWithin(path, audience.path) || !audience.isProven(path)) return "no";
  const access = currentAccess(audience);
  if (access.permitsPath("read", path)) return "yes";
  if (change.selector === undefined && !change.edits) return "no"; // of a whole file
  if (!elements) return access.permitsElements("read", path, "any") ? "without-content" : "no";
  let readable = 0;
  for (const { before, after } of elements) {
    const isReadable = (yield* before.areGiven(access, "read", path)) && (yield* after.areGiven(access, "read", path));
    if (isReadable) readable += 1;
  }
  if (readable === elements.length) return "yes";
  return readable > 0 ? "without-content" : "no"; // the others would not make sense by themselves
}

/** The access of a client that may read only some elements of the page. */
export function accessByElements(audience: Audience, path: string): Access | undefined {
  const access = currentAccess(audience);
  const isByElements = !access.permitsPath("read", path) && access.permitsElements("read", path, "any");
  return isByElements ? access : undefined;
}

/** Whether a client could still connect: its user may have been removed, or the rules may have changed. */
export function mayStay(audience: Audience): boolean {
  return currentAccess(audience).permitsPath("read", audience.connectedTo);
}

function currentAccess({ access }: Audience): Access {
  return access.current?.() ?? access;
}

function isWithin(path: string, part: string | undefined): boolean {
  if (part === undefined) return true;
  return path.startsWith(part) && (path.length === part.length || path[part.length] === "/");
}
