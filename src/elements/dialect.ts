import type { SourceElement } from "../html/document/html-nodes.ts";
import type { Fragment } from "../html/edit/well-formed.ts";
import { HttpError } from "../http/http-error.ts";
import { emptyReply, type Reply, type ReplyHeaders } from "../server/reply.ts";
import type { DialectName } from "../server/site.ts";

/** Where the ways of speaking the protocol differ. */
export interface Dialect {
  /** Of the elements that match, those that are read or changed. */
  choose(matches: readonly SourceElement[]): readonly SourceElement[];
  /** The answer where nothing matches; or throws it. */
  noMatch(headers: ReplyHeaders): Reply;
  /** The value of `Content-Range` for a selector as it was received. */
  contentRange(selector: string): string;
  /** The content of the reply to POST: the matches as they are now, or what was appended. */
  appended(matches: Uint8Array, supplied: Uint8Array): Uint8Array;
  /** Throws where an element cannot give way to a fragment. */
  checkReplacement(element: SourceElement, fragment: Fragment): void;
}

const spec: Dialect = {
  choose: (matches) => matches,
  noMatch: (headers) => emptyReply(204, headers),
  contentRange: (selector) => `selector ${selector}`,
  appended: (matches) => matches,
  checkReplacement: () => {},
};

/** The Internet-Draft "CSS Selector Range Unit", which browser clients of this protocol speak. */
const draft00: Dialect = {
  choose: (matches) => matches.slice(0, 1),
  noMatch(headers) {
    const details = "No element matches the selector.";
    throw new HttpError(416, "NO_MATCH", details, { headers: { ...headers, "content-range": "selector */" } });
  },
  contentRange: (selector) => `selector=${selector}`,
  appended: (_matches, supplied) => supplied,
  checkReplacement({ attribs }, { tags: [tag] }) {
    const { id } = attribs;
    const newId = tag?.attributes.find(({ name }) => name === "id")?.value;
    if (id === undefined || id === newId) return;
    throw new HttpError(409, "ID_CHANGED", `The new element must have the id of the old one, ${JSON.stringify(id)}.`);
  },
};

/** The rules of each dialect. */
export const dialects: Readonly<Record<DialectName, Dialect>> = { spec, "draft-00": draft00 };
