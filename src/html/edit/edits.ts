/** A place about an element, in the words of `insertAdjacentHTML`: before it, first in it, last in it, behind it. */
export type InsertPosition = "beforebegin" | "afterbegin" | "beforeend" | "afterend";

/** What every edit of a list can say. */
export interface EditBase {
  /** A CSS selector; the elements that it selects when the edits before are made. */
  readonly selector: string;
  /** How many elements it has to select; with another number nothing at all is done. @default any number */
  readonly matches?: number | undefined;
  /** The entity tag that these elements have to have, as a GET of the selector tells it. @default any */
  readonly etag?: string | undefined;
}

/** A change of elements, as in the DOM. Of nested elements, the outermost is replaced, removed, moved or filled. */
export type Edit =
  | (EditBase & { readonly op: "replace"; readonly html: string })
  /** `html` is put to each element, as `insertAdjacentHTML` does. */
  | (EditBase & { readonly op: "insert"; readonly position: InsertPosition; readonly html: string })
  | (EditBase & { readonly op: "remove" })
  /** The elements go, in the order of the page, to the one element that `to` selects. */
  | (EditBase & { readonly op: "move"; readonly to: string; readonly position: InsertPosition })
  /** What is in each element gives way to HTML, or to text. */
  | (EditBase & { readonly op: "setContent"; readonly html: string })
  | (EditBase & { readonly op: "setText"; readonly text: string })
  | (EditBase & { readonly op: "setAttribute"; readonly name: string; readonly value: string })
  | (EditBase & { readonly op: "removeAttribute"; readonly name: string })
  /** `class` is one class, or several with blanks between them. */
  | (EditBase & { readonly op: "addClass"; readonly class: string })
  | (EditBase & { readonly op: "removeClass"; readonly class: string })
  /** Changes nothing; `matches` and `etag` say what has to be so. */
  | (EditBase & { readonly op: "test" });

/** The edits of one `op`. */
export type EditOf<Op extends Edit["op"]> = Extract<Edit, { readonly op: Op }>;
