import type { RootNode, SourceElement } from "../document/html-nodes.ts";
import type { ParseLimits } from "../document/parse-budget.ts";
import type { DocumentKind, SourceDocument } from "../document/source-document.ts";
import { htmlLanguage } from "./html-placement.ts";
import type { NormalDocument } from "./normalise.ts";
import type { Placement } from "./placement.ts";
import type { Fragment } from "./well-formed.ts";
import { xmlLanguage } from "./xml-placement.ts";

/** Throws where an element may not give way to a fragment. */
export type CheckReplacement = (element: SourceElement, fragment: Fragment) => void;

/**
 * What the language of a document decides about an edit. Placements are in the order of the source; `undefined` where an
 * element has no characters of its own. Each throws a `DocumentError` for what is wrong with the request.
 */
export interface DocumentLanguage {
  /** Every element, the outermost where they nest, gives way to `markup`. */
  replace(
    document: SourceDocument,
    elements: readonly SourceElement[],
    markup: string,
    check: CheckReplacement,
  ): Promise<readonly Placement[] | undefined>;
  /** `markup` is added inside of every element, after its last child; blank markup nowhere. */
  append(
    document: SourceDocument,
    elements: readonly SourceElement[],
    markup: string,
  ): Promise<readonly Placement[] | undefined>;
  /** Every element, the outermost where they nest, goes. */
  remove(document: SourceDocument, elements: readonly SourceElement[]): Promise<readonly Placement[] | undefined>;
  /** The elements that every document has, so that none can be removed. */
  permanentElements(root: RootNode): readonly SourceElement[];
  /** The document written anew, with a place for every element; `undefined` where that is not possible. */
  normalise(
    document: SourceDocument,
    elements: readonly SourceElement[],
    limits?: ParseLimits,
  ): Promise<NormalDocument | undefined>;
}

const languages: Readonly<Record<DocumentKind, DocumentLanguage>> = { html: htmlLanguage, xml: xmlLanguage };

/** The rules for a document. */
export function languageOf({ kind }: Pick<SourceDocument, "kind">): DocumentLanguage {
  return languages[kind];
}
