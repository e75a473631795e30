import type { SlicedWork } from "../../event-loop/sliced-work.ts";
import { endOfPage, textOnPage, withoutBlanksAtEnd } from "../document/element-span.ts";
import {
  DoctypeNode,
  isHtmlElement,
  RootNode,
  SourceElement,
  TemplateElement,
  TextNode,
  type TreeChild,
  type TreeNode,
  type TreeParent,
} from "../document/html-nodes.ts";
import type { Seams } from "../document/seams.ts";
import type { SourceDocument } from "../document/source-document.ts";
import { haveSameAttributes } from "../tree-construction/open-elements.ts";
import { type PlacedFragment, type Placement, type TreeEdit, treeEdit } from "./placement.ts";
import type { FragmentStep } from "./well-formed.ts";

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

type Page = Pick<SourceDocument, "root" | "source">;

/**
 * Proves that an edit did what it was to do and nothing else: the new tree is the old one with just the placements
 * made, and everything that was supplied is there, in its place, with the elements that its tags say. Of trees that are
 * cut along `seams`, what is behind these is not looked into: it is the same in both.
 */
export function* prove(
  before: Page,
  after: Page,
  placements: readonly Placement[],
  elements: readonly SourceElement[],
  seams: { readonly before: Seams; readonly after: Seams } = { before: noSeams, after: noSeams },
): SlicedWork<Proof> {
  if (before.root.mode !== after.root.mode) return { holds: false };
  const asked = new Set<unknown>(elements);
  const counterparts = new Map<SourceElement, SourceElement>();
  const impliedAround = new Map<TreeNode, PlacedFragment>();
  const actual = pageSteps(after, noEdit, seams.after);
  const edit = treeEdit(placements);
  const isSameElement = elementComparison(before, after, edit);
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

  for (const wanted of pageSteps(before, edit, seams.before)) {
    if (wanted.supplied) latest = wanted.supplied;
    const found = nextActual(wanted);
    const isSame = found && isSameStep(wanted, found, isSameElement);
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
    if (count % stepsAtOnce === 0) yield;
  }
  if (nextActual(undefined)) return failure(latest, true);
  return { holds: true, counterparts };
}

function failure(latest: SuppliedStep | undefined, wasFound: boolean): FailedProof {
  return { holds: false, supplied: latest && { step: latest.step, parent: latest.at.parent }, wasFound };
}

function isImplied({ kind, node }: PageStep, { parent }: PlacedFragment): boolean {
  if (kind !== "start" || !(node instanceof SourceElement) || node.contentStart !== -1) return false;
  return impliedInTable.has(node.name) || (!(parent instanceof SourceElement) && impliedInPage.has(node.name));
}

type CompareElements = (wanted: SourceElement, found: SourceElement) => boolean;

function isSameStep(wanted: PageStep, found: PageStep, isSameElement: CompareElements): boolean {
  if (wanted.kind !== found.kind || wanted.data !== found.data) return false;
  const { node, supplied } = wanted;
  if (wanted.kind === "same") return wanted.owner === found.owner;
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

/** Compares elements of one page with those of another. Start tags that read the same are not taken apart. */
function elementComparison({ source }: Page, { source: otherSource }: Page, { attributes }: TreeEdit): CompareElements {
  return (a, b) => {
    if (a.name !== b.name || a.namespace !== b.namespace) return false;
    const changed = attributes.size > 0 ? attributes.get(a) : undefined;
    if (changed) return haveSameAttributes({ attribs: changed }, b);
    const tag = ownTag(a, source);
    return (tag !== undefined && tag === ownTag(b, otherSource)) || haveSameAttributes(a, b);
  };
}

/** The start tag of an element, where that says all of its attributes: further tags may give some to these two. */
function ownTag({ name, startIndex, contentStart }: SourceElement, source: string): string | undefined {
  if (startIndex === null || contentStart === -1 || name === "html" || name === "body") return undefined;
  return source.slice(startIndex, contentStart);
}

function isSameDoctype(a: DoctypeNode, b: DoctypeNode): boolean {
  return (["name", "publicId", "systemId"] as const).every((part) => a[part] === b[part]);
}

/** One piece of a page, in order. Text has no neighbour that is text. */
interface PageStep {
  /** `same`: children of a parent that are the same in both trees. */
  readonly kind: "start" | "end" | "text" | "comment" | "doctype" | "same";
  /** `undefined` for what a client supplied. */
  readonly node: TreeNode | undefined;
  readonly data: string;
  /** Name of the element that a text stands in. */
  readonly parent: string | undefined;
  readonly supplied?: SuppliedStep;
  /** Whose children are the same. */
  readonly owner?: TreeParent;
}

/** A step of supplied HTML, and where that was put. */
interface SuppliedStep {
  readonly step: FragmentStep;
  readonly at: PlacedFragment;
}

const noEdit: TreeEdit = treeEdit([]);
const noSeams: Seams = { begin: new Map(), end: new Map() };

const blanks = /^[ \t\n\f\r]*$/;

/**
 * The steps of a document as an edit leaves it. White space that depends on where the parser thinks the page begins and
 * ends, and is invisible, is left out: in `html` and `head`, and at the beginning and end of `body`.
 */
export function* pageSteps(
  page: Page,
  edit: TreeEdit = noEdit,
  seams: Seams = noSeams,
): Generator<PageStep, undefined> {
  let isAtBodyStart = false;
  let text: PageStep | undefined;
  /** A text, ends and blank texts behind it: perhaps the end of the page. */
  const held: PageStep[] = [];
  for (const step of singleSteps(page, edit, seams)) {
    if (step.kind === "text") {
      const isOutside = step.parent === undefined || step.parent === "html" || step.parent === "head";
      if (!isOutside || !blanks.test(step.data)) text = text ? joined(text, step) : step;
      continue;
    }
    if (text) {
      if (isAtBodyStart) text = { ...text, data: text.data.replace(/^[ \t\n\f\r]+/, "") };
      if (held.length > 0 && !blanks.test(text.data)) yield* held.splice(0);
      if (text.data !== "") held.push(text);
      text = undefined;
    }
    isAtBodyStart = step.kind === "start" && isBody(step);
    if (held.length > 0 && step.kind === "end") {
      held.push(step);
      if (isBody(step)) yield* trimmed(held.splice(0));
      continue;
    }
    for (const each of held) yield each;
    held.length = 0;
    yield step;
  }
  yield* held;
  if (text) yield text;
}

/** The last steps of a page without the white space at its end. */
function* trimmed([first, ...others]: readonly PageStep[]): Generator<PageStep> {
  const data = first ? withoutBlanksAtEnd(first.data) : "";
  if (first && data !== "") yield { ...first, data };
  for (const step of others) if (step.kind !== "text") yield step;
}

/** Neighbouring texts are one. */
function joined(text: PageStep, { data, supplied }: PageStep): PageStep {
  return { ...text, data: text.data + data, ...(supplied && { supplied }) };
}

function isBody({ node, supplied }: PageStep): boolean {
  if (supplied) return supplied.step.tag?.name === "body";
  return node instanceof SourceElement && node.name === "body" && nameOfParent(node) === "html" && isHtmlElement(node);
}

function* singleSteps(page: Page, edit: TreeEdit, { begin, end }: Seams): Generator<PageStep> {
  const { instead, emptied, added } = edit;
  const isAdding = Object.values(added).some(({ size }) => size > 0);
  const stepOf = stepsOf(page);
  let parent: TreeParent | null = page.root;
  let isEntered = false;
  let previous: TreeChild | null = null;
  let node: TreeChild | null = null;
  while (parent) {
    const element: TreeParent | null = parent instanceof RootNode ? parent.parent : parent;
    if (!isEntered) {
      const seam = begin.get(parent);
      if (seam) yield sameStep(seam);
      node = seam ? seam.at : emptied.has(element) ? null : (parent.children[0] ?? null);
      previous = seam ? (node ? node.prev : (parent.children.at(-1) ?? null)) : null;
      isEntered = true;
    }
    if (isAdding) {
      for (const placed of addedBetween(added, element, previous, node)) yield* suppliedSteps(placed);
    }
    const seam = end.get(parent);
    if (seam && seam.at === node) {
      yield sameStep(seam);
      node = null;
    }
    previous = node;
    if (!node) {
      if (!(element instanceof SourceElement)) return;
      yield stepOf(element, true);
      parent = element.parent;
      previous = element;
      node = element.next;
    } else if (node instanceof SourceElement && instead.has(node)) {
      yield* suppliedSteps(instead.get(node));
      node = node.next;
    } else {
      yield stepOf(node, false);
      if (node instanceof SourceElement) {
        parent = node instanceof TemplateElement ? node.content : node;
        isEntered = false;
      } else node = node.next;
    }
  }
}

/** What is put between two neighbours; either may be missing. */
function addedBetween(
  { beforebegin, afterbegin, beforeend, afterend }: TreeEdit["added"],
  parent: TreeNode | null,
  previous: TreeNode | null,
  next: TreeNode | null,
): readonly PlacedFragment[] {
  const behind = (previous ? afterend.get(previous) : afterbegin.get(parent)) ?? [];
  const before = (next ? beforebegin.get(next) : beforeend.get(parent)) ?? [];
  return before.length === 0 ? behind : [...behind, ...before];
}

function sameStep({ owner }: { readonly owner: TreeParent }): PageStep {
  return { kind: "same", node: undefined, data: "", parent: undefined, owner };
}

function stepsOf(page: Page): (node: TreeNode, isAtEnd: boolean) => PageStep {
  const end = endOfPage(page);
  return (node, isAtEnd) => {
    if (node instanceof SourceElement) return { kind: isAtEnd ? "end" : "start", node, data: "", parent: undefined };
    if (node instanceof TextNode) {
      return { kind: "text", node, data: textOnPage(node, end, page.source), parent: nameOfParent(node) };
    }
    if (node instanceof DoctypeNode) return { kind: "doctype", node, data: "", parent: undefined };
    if (!("data" in node)) throw new TypeError("a root stands below another one");
    return { kind: "comment", node, data: node.data, parent: undefined };
  };
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
