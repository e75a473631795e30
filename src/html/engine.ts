// The HTML library for the server: documents, selectors and edits in slices, with their trees. Other folders import
// this file and `microdata.ts`, and directly only what a start needs without a parser: errors, the types of edits, and
// the grammar of selectors. `page.ts` is the library for programs.
export { elementSpan } from "./document/element-span.ts";
export {
  elementsBelow,
  isHtmlElement,
  nextNode,
  SourceElement,
  TextNode,
  type TreeParent,
} from "./document/html-nodes.ts";
export type { ParseLimits } from "./document/parse-budget.ts";
export { parseDocument } from "./document/parse-document.ts";
export { joined, outerHtmlParts } from "./document/serialise.ts";
export {
  type DocumentKind,
  decodeHtml,
  documentBytes,
  readsAsParsed,
  type SourceDocument,
} from "./document/source-document.ts";
export { voidElements } from "./document/tag-rules.ts";
export { type AppliedEdit, placedElements } from "./edit/apply-edit.ts";
export { applyEdits, type BegunEdit, type EditedDocument, type MadeEdit } from "./edit/apply-edits.ts";
export { permanentElements } from "./edit/element-placement.ts";
export { checkEdits, type Effect } from "./edit/operations.ts";
export { outermost } from "./edit/placement.ts";
export type { Fragment } from "./edit/well-formed.ts";
export { compileSelector, indexing, selection } from "./selector/select.ts";
export type { SelectorList } from "./selector/selector-tree.ts";
