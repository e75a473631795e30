import type { Edit } from "../html/edit/edits.ts";

/** A change of the page's file; see the message reference. */
export interface PageChange {
  readonly type: "change";
  /** Counts up; larger for a later change. */
  readonly id: number;
  readonly kind:
    | "created"
    | "replaced"
    | "appended"
    | "deleted"
    | "elements-replaced"
    | "elements-appended"
    | "elements-deleted"
    | "elements-edited";
  readonly method: string;
  readonly host: string;
  readonly path: string;
  /** Of `elements-edited`, the edits that changed something, each with how many elements it was about. */
  readonly edits?: readonly ChangedByEdit[];
  /** Selector of the changed elements, for the other `elements-` kinds. */
  readonly selector?: string;
  /** How many elements it selected. */
  readonly matches?: number;
  /** What was supplied, for replaced and appended elements. */
  readonly html?: string;
  /** Entity tag of the file after the change. */
  readonly etag?: string;
  /** Who made it, where there is authentication. */
  readonly user?: string;
  readonly requestId: string;
  /** ISO 8601, UTC. */
  readonly time: string;
  /** Whether it was made with this `Page`. */
  readonly own: boolean;
}

/** An edit that was made, and how many elements it was about. */
export type ChangedByEdit = Edit & { readonly matches: number };

/**
 * What a listener gets: a change; `"gap"`, when changes were missed that the server no longer knows, so that what was
 * shown may be out of date; `"open"` and `"closed"`, when the connection is made and lost.
 */
export type PageEvent = PageChange | { readonly type: "gap" } | { readonly type: "open" } | { readonly type: "closed" };
