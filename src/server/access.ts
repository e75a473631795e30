import type { SlicedWork } from "../event-loop/sliced-work.ts";
import { HttpError, methodNotAllowed } from "../http/http-error.ts";

/** A user who has signed in. */
export interface User {
  readonly name: string;
  readonly roles: readonly string[];
}

/** What a client may do to a path. */
export type Right = "read" | "list" | "create" | "overwrite" | "append" | "delete";

/** The elements of a document that a request is about, for decisions by elements. */
export interface SelectedElements {
  /** Whether each of them is one that `selector` selects in the same document. */
  areAmong(selector: string): boolean;
  /** Whether one of them is, holds or lies in an element that `selector` selects. */
  touch(selector: string): boolean;
}

/** Elements about which a rule may ask what takes long to find out. */
export interface JudgedElements extends SelectedElements {
  /** Whether an access permits a right to all of them. */
  areGiven(access: Access, right: Right, path: string): SlicedWork<boolean>;
}

/** The elements that an edit changed. Only clients that may read both hear of the edit. */
export interface ChangedElements {
  /** What the selector selected. */
  readonly before: JudgedElements;
  /** What stands in their place now. */
  readonly after: JudgedElements;
}

/** Decides what a request may do; an authentication plugin puts its own in place of the default, which permits all. */
export interface Access {
  /** Whether the client has a right to a whole file, or to a directory. */
  permitsPath(right: Right, path: string): boolean;
  /**
   * Whether it has the right to these elements of a document, even without a right to the rest. `"any"` asks before the
   * elements are known: whether there could be some for which the answer is yes. Where a selector takes long,
   * `areAmong` and `touch` say `false` for the moment, and this is asked again.
   */
  permitsElements(right: Right, path: string, elements: SelectedElements | "any"): boolean;
  /** The selectors of the rules about elements of a document that concern this client. @default none */
  selectorsOf?(path: string): readonly string[];
  /**
   * The access that the same client has by now, for connections that stay open: users and rules may have changed since
   * the request. @default this one, for ever
   */
  current?(): Access;
  /** The error for what is not permitted: 401 where credentials could help, else 403. */
  refusal(): HttpError;
}

export const permitAll: Access = {
  permitsPath: () => true,
  permitsElements: () => true,
  refusal: () => new HttpError(403, "FORBIDDEN", "You may not do this."),
};

/** Names of files that may hold the compressed content of another file; archives do not. */
const coded = /(?<!\.tar)\.(?:br|gz|zst)$/i;

/** Whether all is permitted that a path may stand for: `/a.html.gz` is judged as `/a.html`, too. */
export function permitsAll(path: string, permits: (path: string) => boolean): boolean {
  return permits(path) && (!coded.test(path) || permits(path.replace(coded, "")));
}

const everyRight: readonly Right[] = ["read", "list", "create", "overwrite", "append", "delete"];
const rightsByMethod: Readonly<Record<string, readonly Right[]>> = {
  GET: ["read", "list"],
  HEAD: ["read", "list"],
  PUT: ["overwrite", "create"],
  POST: ["append", "create"],
  DELETE: ["delete"],
  PATCH: ["overwrite", "append", "delete"],
  MOVE: ["delete"],
  COPY: ["read"],
  MKCOL: ["create"],
};

/** The rights that a method could need. All for OPTIONS, which says what could be done, and for unknown methods. */
export function rightsOf(method: string): readonly Right[] {
  return Object.hasOwn(rightsByMethod, method) ? (rightsByMethod[method] ?? everyRight) : everyRight;
}

/** Throws 401 or 403 without the right to read a resource that can only be read, and 405 for other methods. */
export function requireReading(exchange: Readonly<{ method: string; path: string; access: Access }>): void {
  const { method, path, access } = exchange;
  if (!access.permitsPath("read", path)) throw access.refusal();
  if (method !== "GET" && method !== "HEAD") throw methodNotAllowed("GET, HEAD");
}
