import { isHtmlElement } from "../document/html-document.ts";
import { DoctypeNode, SourceElement, TextNode, type TreeNode } from "../document/html-nodes.ts";
import { endOfPage, textOnPage, withoutBlanksAtEnd } from "../document/page-end.ts";
import type { SourceDocument } from "../document/source-document.ts";
import { TreeWalk } from "../document/tree-walk.ts";
import type { PlacedFragment, TreeEdit } from "./placement.ts";
import type { FragmentStep } from "./well-formed.ts";

/** One thing after the other in a page. Text has no neighbour that is text. */
export interface PageStep {
  readonly kind: "start" | "end" | "text" | "comment" | "doctype";
  /** `undefined` for what a client supplied. */
  readonly node: TreeNode | undefined;
  /** Of text and comments. */
  readonly data: string;
  /** Name of the element that it stands in. */
  readonly parent: string | undefined;
  readonly supplied?: SuppliedStep;
}

/** A step of supplied HTML, and where that was put. */
export interface SuppliedStep {
  readonly step: FragmentStep;
  readonly at: PlacedFragment;
}

const noEdit: TreeEdit = { instead: new Map(), added: new Map() };

const blanks = /^[ \t\n\f\r]*$/;

/**
 * The steps of a document as an edit leaves it. White space that depends on where the parser thinks the page begins and
 * ends, and that nobody sees, is left out: in `html` and `head`, and at the beginning and end of `body`.
 */
export function* pageSteps(document: SourceDocument, edit: TreeEdit = noEdit): Generator<PageStep, undefined> {
  let isAtBodyStart = false;
  /** A text, ends and blank texts behind it: perhaps the end of the page. */
  let held: PageStep[] = [];
  for (const step of joinedSteps(document, edit)) {
    const text = isAtBodyStart && step.kind === "text" ? { ...step, data: withoutBlanksAtStart(step.data) } : step;
    isAtBodyStart = step.kind === "start" && isBody(step);
    if (text.kind === "text" && text.data === "") continue;
    const couldBeLast = held.length > 0 && (text.kind === "end" || (text.kind === "text" && blanks.test(text.data)));
    if (!couldBeLast) {
      yield* held.splice(0);
      if (text.kind === "text") held = [text];
      else yield text;
      continue;
    }
    held.push(text);
    if (text.kind === "end" && isBody(text)) yield* trimmed(held.splice(0));
  }
  yield* held;
}

/** The last steps of a page without the white space at its end. */
function* trimmed([first, ...others]: readonly PageStep[]): Generator<PageStep> {
  const data = first ? withoutBlanksAtEnd(first.data) : "";
  if (first && data !== "") yield { ...first, data };
  for (const step of others) if (step.kind !== "text") yield step;
}

/** Neighbouring texts are one. */
function* joinedSteps(document: SourceDocument, edit: TreeEdit): Generator<PageStep> {
  let text: PageStep | undefined;
  for (const step of singleSteps(document, edit)) {
    if (step.kind === "text") {
      if (!isOutsideBody(step)) text = text ? joined(text, step) : step;
      continue;
    }
    if (text) yield text;
    text = undefined;
    yield step;
  }
}

function joined(text: PageStep, { data, supplied }: PageStep): PageStep {
  return { ...text, data: text.data + data, ...(supplied && { supplied }) };
}

function isOutsideBody({ parent, data }: PageStep): boolean {
  return (parent === undefined || parent === "html" || parent === "head") && blanks.test(data);
}

function isBody({ node, supplied, parent }: PageStep): boolean {
  if (supplied) return supplied.step.tag?.name === "body";
  return node instanceof SourceElement && node.name === "body" && parent === "html" && isHtmlElement(node);
}

function* singleSteps(document: SourceDocument, { instead, added }: TreeEdit): Generator<PageStep> {
  const end = endOfPage(document);
  const walk = new TreeWalk(document.root);
  let isInside = walk.advance();
  while (isInside) {
    const { node, isAtEnd } = walk;
    const element = node instanceof SourceElement ? node : undefined;
    if (element && !isAtEnd && instead.has(element)) {
      yield* suppliedSteps(instead.get(element));
      isInside = walk.skip();
      continue;
    }
    if (element && isAtEnd) for (const placed of added.get(element) ?? []) yield* suppliedSteps(placed);
    yield stepOf(node, isAtEnd, end);
    isInside = walk.advance();
  }
}

function stepOf(node: TreeNode, isAtEnd: boolean, endOfContent: number): PageStep {
  const parent = nameOfParent(node);
  if (node instanceof SourceElement) return { kind: isAtEnd ? "end" : "start", node, data: "", parent };
  if (node instanceof DoctypeNode) return { kind: "doctype", node, data: "", parent };
  if (!("data" in node)) throw new TypeError("a root stands below another one");
  if (!(node instanceof TextNode)) return { kind: "comment", node, data: node.data, parent };
  return { kind: "text", node, data: textOnPage(node, endOfContent), parent };
}

/** The parent of a template's content is the template. */
function nameOfParent({ parent }: TreeNode): string | undefined {
  const owner = parent instanceof SourceElement ? parent : parent?.parent;
  return owner instanceof SourceElement ? owner.name : undefined;
}

function* suppliedSteps(at: PlacedFragment | undefined): Generator<PageStep> {
  if (!at) return;
  const container = at.parent instanceof SourceElement ? at.parent.name : undefined;
  for (const step of at.fragment.steps) {
    const { kind, data, parent = container } = step;
    yield { kind, node: undefined, data, parent, supplied: { step, at } };
  }
}

function withoutBlanksAtStart(text: string): string {
  return text.replace(/^[ \t\n\f\r]+/, "");
}
