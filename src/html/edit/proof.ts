import { TimeSlice } from "../../event-loop/sliced-work.ts";
import {
  DoctypeNode,
  isHtmlElement,
  SourceElement,
  TextNode,
  type TreeNode,
  type TreeParent,
} from "../document/html-nodes.ts";
import { endOfPage, textOnPage, withoutBlanksAtEnd } from "../document/page.ts";
import type { TakenElements } from "../document/reparse-html.ts";
import type { SourceDocument } from "../document/source-document.ts";
import { TreeWalk } from "../document/tree-walk.ts";
import { type PlacedFragment, type Placement, type TreeEdit, treeEdit } from "./placement.ts";
import type { FragmentStep } from "./well-formed.ts";

/** What comparing two trees came to. */
type Proof =
  | {
      readonly holds: true;
      /** Where the elements asked about are in the new tree; those that went are missing. */
      readonly counterparts: ReadonlyMap<SourceElement, SourceElement>;
    }
  | FailedProof;

export interface FailedProof {
  readonly holds: false;
  /** The last that was supplied before the trees differ, and what it was put into. */
  readonly supplied?: { readonly step: FragmentStep; readonly parent: TreeParent | null } | undefined;
  /** Whether that is in the new tree; what follows it differs then. */
  readonly wasFound?: boolean;
}

/** What a parser makes around a `tr`, a `td`, a `col`, and in an `html`, where their tags are left out. */
const impliedInTable = new Set(["tbody", "tr", "colgroup"]);
const impliedInPage = new Set(["head", "body"]);

const stepsAtOnce = 256;

/**
 * Proves that an edit did what it was to do and nothing else: the new tree is the old one with just the placements made,
 * and everything that was supplied is there, in its place, with the elements that its tags say. What was taken over from the
 * old tree is not looked into.
 */
export async function prove(
  before: SourceDocument,
  after: SourceDocument,
  placements: readonly Placement[],
  elements: readonly SourceElement[],
  takenOver: TakenElements = new Map(),
): Promise<Proof> {
  if (before.root["x-mode"] !== after.root["x-mode"]) return { holds: false };
  const asked = new Set<unknown>(elements);
  const counterparts = new Map<SourceElement, SourceElement>();
  const impliedAround = new Map<TreeNode, PlacedFragment>();
  const taken = withoutAncestorsOf(elements, takenOver);
  const actual = pageSteps(after, noEdit, new Set(taken.values()));
  const slice = new TimeSlice();
  let latest: SuppliedStep | undefined;
  let count = 0;

  const nextActual = (wanted: PageStep | undefined): PageStep | undefined => {
    for (let { value } = actual.next(); value; { value } = actual.next()) {
      if (!value.node) return value;
      if (impliedAround.has(value.node)) impliedAround.delete(value.node);
      else if (wanted?.supplied && isImplied(value, wanted.supplied.at))
        impliedAround.set(value.node, wanted.supplied.at);
      else return value;
    }
    return undefined;
  };

  for (const wanted of pageSteps(before, treeEdit(placements), taken)) {
    if (wanted.supplied) latest = wanted.supplied;
    const found = nextActual(wanted);
    const isSame =
      found &&
      (wanted.kind === "taken" ? taken.get(wanted.node as SourceElement) === found.node : isSameStep(wanted, found));
    // What a parser implied around supplied elements must not take in what follows them, white space excepted.
    const isCaptured =
      impliedAround.size > 0 &&
      wanted.kind !== "text" &&
      [...impliedAround.values()].some((at) => at !== wanted.supplied?.at);
    if (!isSame || isCaptured) return failure(latest, wanted.supplied === undefined);
    const { node } = wanted;
    if (asked.has(node) && node instanceof SourceElement && found.node instanceof SourceElement) {
      counterparts.set(node, found.node);
    }
    count += 1;
    if (count % stepsAtOnce === 0 && slice.isOver) await slice.renew();
  }
  if (nextActual(undefined)) return failure(latest, true);
  return { holds: true, counterparts };
}

/** What was taken over, without the elements asked about and what they lie in. */
function withoutAncestorsOf(elements: readonly SourceElement[], taken: TakenElements): TakenElements {
  const others = new Map(taken);
  const seen = new Set<TreeParent>();
  for (const element of elements) {
    for (let each: TreeParent | null = element; each && !seen.has(each); each = each.parent) {
      seen.add(each);
      if (each instanceof SourceElement) others.delete(each);
    }
  }
  return others;
}

function failure(latest: SuppliedStep | undefined, wasFound: boolean): FailedProof {
  return { holds: false, supplied: latest && { step: latest.step, parent: latest.at.parent }, wasFound };
}

function isImplied({ kind, node }: PageStep, { parent }: PlacedFragment): boolean {
  if (kind !== "start" || !(node instanceof SourceElement) || node.contentStart !== -1) return false;
  return impliedInTable.has(node.name) || (!(parent instanceof SourceElement) && impliedInPage.has(node.name));
}

function isSameStep(wanted: PageStep, found: PageStep): boolean {
  if (wanted.kind !== found.kind || wanted.data !== found.data) return false;
  const { node, supplied } = wanted;
  if (supplied) return isPlaced(found, supplied);
  if (node instanceof SourceElement) return found.node instanceof SourceElement && isSameElement(node, found.node);
  if (node instanceof DoctypeNode) return found.node instanceof DoctypeNode && isSameDoctype(node, found.node);
  return true;
}

/** The element of a supplied start tag is the one whose tag begins and ends where that tag was put. */
function isPlaced({ node }: PageStep, { step: { tag }, at: { offset } }: SuppliedStep): boolean {
  if (!tag) return true;
  if (!(node instanceof SourceElement)) return false;
  // `<image>` becomes an `img`; in SVG, names get back their capitals.
  if (node.name.toLowerCase() !== tag.name.toLowerCase()) return false;
  return node.startIndex === offset + tag.start && node.contentStart === offset + tag.contentStart;
}

function isSameElement(a: SourceElement, b: SourceElement): boolean {
  if (a.name !== b.name || a.namespace !== b.namespace) return false;
  if (a.attribs === b.attribs) return true;
  const names = Object.keys(a.attribs);
  return names.length === Object.keys(b.attribs).length && names.every((name) => a.attribs[name] === b.attribs[name]);
}

function isSameDoctype(a: DoctypeNode, b: DoctypeNode): boolean {
  return (["x-name", "x-publicId", "x-systemId"] as const).every((part) => a[part] === b[part]);
}

/** One thing after the other in a page. Text has no neighbour that is text. */
interface PageStep {
  /** `taken` is an element that the parse of the edited page took over, with all that it contains. */
  readonly kind: "start" | "end" | "text" | "comment" | "doctype" | "taken";
  /** `undefined` for what a client supplied. */
  readonly node: TreeNode | undefined;
  /** Of text and comments. */
  readonly data: string;
  /** Name of the element that it stands in. */
  readonly parent: string | undefined;
  readonly supplied?: SuppliedStep;
}

/** Elements that are not looked into. */
type SkippedElements = Pick<ReadonlySet<SourceElement>, "has">;

/** A step of supplied HTML, and where that was put. */
interface SuppliedStep {
  readonly step: FragmentStep;
  readonly at: PlacedFragment;
}

const noEdit: TreeEdit = { instead: new Map(), added: new Map() };
const nothing: ReadonlySet<SourceElement> = new Set();

const blanks = /^[ \t\n\f\r]*$/;

/**
 * The steps of a document as an edit leaves it. White space that depends on where the parser thinks the page begins and
 * ends, and that nobody sees, is left out: in `html` and `head`, and at the beginning and end of `body`.
 */
export function* pageSteps(
  document: SourceDocument,
  edit: TreeEdit = noEdit,
  taken: SkippedElements = nothing,
): Generator<PageStep, undefined> {
  let isAtBodyStart = false;
  /** A text, ends and blank texts behind it: perhaps the end of the page. */
  let held: PageStep[] = [];
  for (const step of joinedSteps(document, edit, taken)) {
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
function* joinedSteps(document: SourceDocument, edit: TreeEdit, taken: SkippedElements): Generator<PageStep> {
  let text: PageStep | undefined;
  for (const step of singleSteps(document, edit, taken)) {
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

function* singleSteps(
  document: SourceDocument,
  { instead, added }: TreeEdit,
  taken: SkippedElements,
): Generator<PageStep> {
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
    if (element && !isAtEnd && taken.has(element)) {
      yield { kind: "taken", node, data: "", parent: nameOfParent(node) };
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
