import type { SourceDocument, SourceElement } from "../html/engine.ts";
import type { Storage } from "../storage/storage.ts";

/** What a plugin wants to know of a request that it makes, and HTTP has no words for. */
export interface Inspection {
  /** Files as they were, which only can be read, in place of those that are. */
  readonly storage?: Storage | undefined;
  /** Takes the place of the content of elements; what it gives is answered as JSON. */
  readonly look?: ((page: InspectedPage) => Promise<unknown>) | undefined;
  /** Learns what a list of edits made of a page, before it is written; `false` keeps it from being written. */
  readonly edited?: ((made: InspectedEdits) => Promise<boolean>) | undefined;
}

/** A page as a request for elements finds it. */
export interface InspectedPage {
  readonly document: SourceDocument;
  /** Entity tag of the file. */
  readonly etag: string;
  /** What the selector of the request selects. */
  readonly matches: readonly SourceElement[];
  /** Whether the client may read all of the page. */
  readonly isReadable: boolean;
  /** Whether the client may read an element with all in it. */
  mayRead(element: SourceElement): Promise<boolean>;
  /** The tag that a GET of just these elements tells. */
  tagOf(elements: readonly SourceElement[]): Promise<string>;
  find(selector: string): Promise<readonly SourceElement[]>;
}

/** A page before and after a list of edits. */
export interface InspectedEdits {
  readonly before: string;
  readonly after: string;
  /** Whether the client may read all of both. */
  readonly isReadable: boolean;
  /** How many elements each edit was about; `undefined` where the client may not know. */
  readonly matches: readonly (number | undefined)[];
  /** The tag of what a selector selects from now on; `undefined` for nothing, and for what the client may not read. */
  tagOf(selector: string): Promise<string | undefined>;
}
