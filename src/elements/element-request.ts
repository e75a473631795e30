import type { FileRequest, FileSpace } from "../files/file-request.ts";
import type { Right } from "../server/access.ts";
import type { BodyBudget } from "../server/body-budget.ts";
import type { Reply } from "../server/reply.ts";
import type { StoredStat } from "../storage/storage.ts";
import type { DocumentCache } from "./document-cache.ts";

/** What all requests to one file handler share, those for elements included. */
export interface ElementSpace extends FileSpace {
  readonly documents: DocumentCache;
  readonly bodies: BodyBudget;
}

/** A request for elements of a document that exists. Functions that operations share take only what they use. */
export interface ElementRequest extends FileRequest, ElementSpace {
  /** The CSS selector as UTF-8 text, trimmed. */
  readonly selector: string;
  readonly stat: StoredStat;
  /** The right that the request needs for each of the elements. */
  readonly right: Right;
}

/** A request that edits a document; one for a list of edits has no selector of its own. */
export type EditRequest = Omit<ElementRequest, "selector" | "right"> & Partial<Pick<ElementRequest, "right">>;

export type ElementOperation = (request: ElementRequest) => Promise<Reply>;
