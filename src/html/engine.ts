// Documents, selectors and edits as a server needs them: in slices, with trees that it caches and places that it judges.
// What else is outside of this folder and not a program takes nothing of it but this, `microdata.ts`, and what loads no
// parser: errors, the types of edits and the grammar of selectors. For programs it is `page.ts`.
export { elementSpan } from "./document/element-span.ts";
export { isHtmlElement, nextNode, SourceElement, type TreeParent } from "./document/html-nodes.ts";
export type { ParseInTurn, ParseLimits } from "./document/parse-budget.ts";
export { parseDocument } from "./document/parse-document.ts";
export { joined, outerHtmlParts } from "./document/serialise.ts";
export { type DocumentKind, decodeHtml, documentBytes, type SourceDocument } from "./document/source-document.ts";
export { voidElements } from "./document/tag-rules.ts";
export { type AppliedEdit, placedElements } from "./edit/apply-edit.ts";
export { applyEdits, type BegunEdit, type EditedDocument, type MadeEdit } from "./edit/apply-edits.ts";
export { permanentElements } from "./edit/element-placement.ts";
export { checkEdits, type Effect } from "./edit/operations.ts";
export { outermost } from "./edit/placement.ts";
export type { Fragment } from "./edit/well-formed.ts";
export { compileSelector, type ParsedSelector, selection } from "./selector/select.ts";
export type { SelectorLimits } from "./selector/selector-parser.ts";
